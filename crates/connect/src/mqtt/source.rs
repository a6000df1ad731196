//! The source: DATASOURCE is a topic filter, or several separated by commas.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rekuiper_mqtt_codec::property::Place;
use rekuiper_mqtt_codec::{Properties, QoS, valid_filter};
use rekuiper_value::{Object, Value};

use super::{ClientOptions, Subscription, door, options};
use crate::traits::{BoxFuture, Opened, Source, SourceCx, SourceOut};
use crate::{ConnectError, Props, intake};

pub fn open(datasource: &str, props: &Props) -> Result<Opened, ConnectError> {
    let filters: Vec<String> = datasource.split(',').map(str::to_owned).collect();
    if let Some(bad) = filters.iter().find(|f| !valid_filter(f)) {
        return Err(ConnectError::config(format!(
            "DATASOURCE {datasource:?} is no list of topic filters: {bad:?} is not valid"
        )));
    }
    let options = ClientOptions::new(props)?;
    let qos = options::qos(props, 0)?;
    let source = Box::new(MqttSource { options, filters, qos });
    Ok(Opened::Source(match props.str_or("eofMessage", "")? {
        "" => source,
        text => {
            let eof = STANDARD.decode(text).map_err(|e| {
                ConnectError::config(format!("property eofMessage must be base64: {e}"))
            })?;
            intake::until(source, eof)
        }
    }))
}

struct MqttSource {
    options: ClientOptions,
    filters: Vec<String>,
    qos: QoS,
}

static NEXT_SUBSCRIPTION: AtomicU64 = AtomicU64::new(1);

impl Source for MqttSource {
    fn run<'a>(
        self: Box<Self>,
        cx: SourceCx,
        out: SourceOut,
    ) -> BoxFuture<'a, Result<(), ConnectError>> {
        Box::pin(async move {
            if let Some(broker) = door::inside(&cx.services, &self.options).await {
                return door::read(broker, self.filters, self.qos, cx, out).await;
            }
            let user = format!("stream {} of {}", cx.stream, cx.rule);
            let pool = &cx.services.mqtt;
            let client = pool.client(&self.options, &user, &cx.clock, &cx.status)?;
            let id = NEXT_SUBSCRIPTION.fetch_add(1, Relaxed);
            let _leave = Leave { client: client.clone(), id };
            let tx = out.tx.clone();
            let subscription = Subscription {
                id,
                filters: self.filters,
                qos: self.qos,
                out,
                status: cx.status.clone(),
            };
            client.subscribe(subscription).await?;
            tx.closed().await;
            Ok(())
        })
    }
}

/// Takes the subscription back when the source is dropped.
struct Leave {
    client: Arc<super::Client>,
    id: u64,
}

impl Drop for Leave {
    fn drop(&mut self) {
        let unsubscribe = super::client::Command::Unsubscribe(self.id);
        // a full command queue belongs to a client that is ending or stuck: then its own
        // delivery finds the stream closed
        let _ = self.client.commands.try_send(unsubscribe);
    }
}

/// User properties of an MQTT 5 message as metadata: `properties`, and `traceId` where a
/// traceparent is among them.
pub(super) fn properties(section: &[u8]) -> Option<Arc<Object>> {
    let found = Properties::decode(section, Place::PUBLISH).ok()?;
    let mut user = Object::new();
    for (key, value) in found.user_properties() {
        user.insert(key.into(), Value::str(value));
    }
    if user.is_empty() {
        return None;
    }
    let mut meta = Object::new();
    if let Some(Value::Str(trace)) = user.get("traceparent") {
        meta.insert("traceId".into(), Value::Str(trace.clone()));
    }
    meta.insert("properties".into(), Value::object(user));
    Some(Arc::new(meta))
}
