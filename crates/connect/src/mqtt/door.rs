//! The short way: when the server is the broker inside this process, messages come through memory.

use rekuiper_broker::{BrokerHandle, LinkMessage, LinkOptions, LinkPolicy, QoS};
use rekuiper_rt::limits::BATCH_MESSAGES_MAX;
use rekuiper_value::batch::{Ack, Msg, MsgMeta, Payloads, RawBatch};
use rekuiper_value::{Object, Value};
use std::sync::Arc;

use super::ClientOptions;
use crate::{ConnectError, Services, SourceCx, SourceOut};

/// The broker of this process, if the options name it and need nothing that only a socket has.
pub async fn inside(services: &Services, options: &ClientOptions) -> Option<BrokerHandle> {
    let (broker, listeners) = services.broker.get()?;
    let plain = !options.tls && options.websocket.is_none();
    if !plain || options.session || !options.client_id.is_empty() {
        return None;
    }
    let named = tokio::net::lookup_host(options.address()).await.ok()?;
    let mut named = named.into_iter();
    let ours = |a: &std::net::SocketAddr| {
        a.port() == options.port && (a.ip().is_unspecified() || a.ip().is_loopback())
    };
    let hit = named.any(|n| {
        let near = n.ip().is_loopback();
        listeners.iter().any(|l| *l == n || (ours(l) && n.port() == l.port() && near))
    });
    hit.then(|| broker.clone())
}

/// Reads filters through a link until the stream stops.
pub async fn read(
    broker: BrokerHandle,
    filters: Vec<String>,
    qos: QoS,
    cx: SourceCx,
    out: SourceOut,
) -> Result<(), ConnectError> {
    let closed = |e: rekuiper_broker::LinkError| ConnectError::io(e.to_string());
    let options = LinkOptions {
        policy: LinkPolicy::Block,
        ack_after_link: qos != QoS::AtMostOnce,
        ..LinkOptions::default()
    };
    let name = format!("rule {} stream {}", cx.rule, cx.stream);
    let mut link = broker.link_with(&name, options).map_err(closed)?;
    link.handle().subscribe(&filters, qos).map_err(closed)?;
    cx.status.connected(cx.clock.now_ms());
    let mut messages: Vec<LinkMessage> = Vec::with_capacity(BATCH_MESSAGES_MAX);
    loop {
        messages.clear();
        link.recv(BATCH_MESSAGES_MAX, &mut messages).await.map_err(closed)?;
        if messages.is_empty() {
            continue;
        }
        let batch = gather(&messages, cx.clock.now_ms(), link.handle());
        if out.send(batch).await.is_err() {
            return Ok(());
        }
    }
}

/// Acknowledges to the broker when the batch is done.
struct Owed {
    link: rekuiper_broker::LinkHandle,
    handles: Vec<rekuiper_broker::AckHandle>,
}

impl Drop for Owed {
    fn drop(&mut self) {
        self.link.ack_all(self.handles.drain(..));
    }
}

fn gather(messages: &[LinkMessage], ts: i64, link: rekuiper_broker::LinkHandle) -> RawBatch {
    let total = messages.iter().map(|m| m.payload.len() + m.topic.bytes().len()).sum();
    let mut bytes: Vec<u8> = Vec::with_capacity(total);
    let mut msgs = Vec::with_capacity(messages.len());
    let mut handles = Vec::new();
    for m in messages {
        let mut put = |part: &[u8]| {
            let at = bytes.len() as u32;
            bytes.extend_from_slice(part);
            (at, part.len() as u32)
        };
        let topic = put(m.topic.bytes());
        let payload = put(&m.payload);
        handles.extend(m.ack);
        let extra = (!m.user_properties.is_empty()).then(|| {
            let user: Object = m
                .user_properties
                .iter()
                .map(|(k, v)| (k.as_str().into(), Value::str(v.as_str())))
                .collect();
            Arc::new(Object::from([("properties".into(), Value::object(user))]))
        });
        msgs.push(Msg {
            payload,
            meta: MsgMeta { topic, packet_id: 0, qos: m.qos as u8, extra },
        });
    }
    let ack: Option<Ack> =
        (!handles.is_empty()).then(|| Arc::new(Owed { link, handles }) as Ack);
    RawBatch { payloads: Payloads::Bytes { bytes: bytes.into(), msgs }, meta: None, ts, ack }
}
