//! The sink: publishes each payload on a topic, which may be a template.

use std::sync::Arc;

use rekuiper_mqtt_codec::publish::{self, PublishParts};
use rekuiper_mqtt_codec::{Property, QoS, Version, valid_name};

use super::outgoing::Job;
use super::{Client, ClientOptions, options};
use crate::traits::{BoxFuture, Opened, Sink, SinkBatch, SinkCx};
use crate::{ConnectError, Props};

pub fn open(props: &Props) -> Result<Opened, ConnectError> {
    let topic = match props.str("topic")? {
        Some(topic) if !topic.is_empty() => topic.to_owned(),
        _ => return Err(ConnectError::config("mqtt sink is missing property topic")),
    };
    let template = topic.contains("{{");
    if !template && !valid_name(&topic) {
        return Err(ConnectError::config(format!(
            "property topic {topic:?} is not valid: a sink publishes on one topic, so it must not \
             hold wildcards"
        )));
    }
    let options = ClientOptions::new(props)?;
    let mut properties = Vec::new();
    for (key, value) in props.map("properties")? {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        Property::UserProperty((key, value))
            .write(&mut properties)
            .map_err(|e| ConnectError::config(format!("property properties: {e}")))?;
    }
    if !options.version.is_v5() && !properties.is_empty() {
        tracing::warn!("mqtt sink: user properties need protocolVersion 5; they are ignored");
        properties.clear();
    }
    Ok(Opened::Sink(Box::new(MqttSink {
        qos: options::qos(props, 0)?,
        retained: props.bool("retained", false)?,
        options,
        topic,
        template,
        properties,
        client: None,
    })))
}

struct MqttSink {
    options: ClientOptions,
    topic: String,
    template: bool,
    qos: QoS,
    retained: bool,
    properties: Vec<u8>,
    client: Option<Arc<Client>>,
}

impl MqttSink {
    /// The batch's payloads from `from` on as frames, up to the first that cannot be published;
    /// that one is the error when it is the first of all.
    fn encode(&self, batch: &SinkBatch, from: usize) -> Result<Frames, ConnectError> {
        let mut frames = Frames::default();
        for i in from..batch.len() {
            if let Err(error) = self.put(batch, i, &mut frames) {
                if frames.ends.is_empty() {
                    return Err(error);
                }
                frames.rest = Some(error);
                break;
            }
        }
        Ok(frames)
    }

    fn put(&self, batch: &SinkBatch, i: usize, frames: &mut Frames) -> Result<(), ConnectError> {
        let topic = match self.template {
            true => batch.prop(i, 0).map_or("", |t| t.as_str()),
            false => &self.topic,
        };
        if self.template && !valid_name(topic) {
            return Err(ConnectError::data(format!("topic {topic:?} is not valid")));
        }
        let parts = PublishParts {
            topic: topic.as_bytes(),
            packet_id: (self.qos != QoS::AtMostOnce).then_some(1),
            qos: self.qos,
            dup: false,
            retain: self.retained,
            properties: [&self.properties, &[]],
            payload: batch.payload(i),
        };
        publish::write(&mut frames.bytes, self.options.version, &parts)
            .map_err(|e| ConnectError::data(format!("cannot publish: {e}")))?;
        if self.qos != QoS::AtMostOnce {
            let behind = tail_len(self.options.version, &self.properties, parts.payload.len());
            frames.ids_at.push((frames.bytes.len() - behind - 2) as u32);
        }
        frames.ends.push(frames.bytes.len() as u32);
        Ok(())
    }
}

/// Bytes of a PUBLISH behind its packet id.
fn tail_len(version: Version, properties: &[u8], payload: usize) -> usize {
    let n = properties.len();
    let length = match n {
        _ if !version.is_v5() => return payload,
        0..=127 => 1,
        128..=16_383 => 2,
        _ => 3,
    };
    length + n + payload
}

#[derive(Default)]
struct Frames {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    ids_at: Vec<u32>,
    /// Why the payload after these cannot be published.
    rest: Option<ConnectError>,
}

impl Sink for MqttSink {
    fn open<'a>(&'a mut self, cx: &'a SinkCx) -> BoxFuture<'a, Result<(), ConnectError>> {
        Box::pin(async move {
            if self.client.is_none() {
                let user = format!("sink {} of {}", cx.op, cx.rule);
                let pool = &cx.services.mqtt;
                let client = pool.client(&self.options, &user, &cx.clock, &cx.status)?;
                client.watch(&cx.status);
                self.client = Some(client);
            }
            Ok(())
        })
    }

    fn write<'a>(
        &'a mut self,
        batch: &'a SinkBatch,
        from: usize,
    ) -> BoxFuture<'a, Result<(), ConnectError>> {
        Box::pin(async move {
            let Some(client) = self.client.clone() else {
                return Err(ConnectError::io("not connected"));
            };
            let mut frames = self.encode(batch, from)?;
            let (taken, rest) = (frames.ends.len(), frames.rest.take());
            let qos = self.qos as u8;
            client
                .publish(|reply| Job {
                    frames: frames.bytes,
                    ends: frames.ends,
                    ids_at: frames.ids_at,
                    qos,
                    reply,
                })
                .await?;
            match rest {
                Some(error) => Err(error.after(taken)),
                None => Ok(()),
            }
        })
    }

    fn templated(&self) -> &'static [&'static str] {
        if self.template { &["topic"] } else { &[] }
    }
}
