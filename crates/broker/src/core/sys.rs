//! The `$SYS` topics, named as Mosquitto names them.

use std::sync::Arc;

use bytes::Bytes;
use rekuiper_mqtt_codec::QoS;

use super::Core;
use crate::Stats;
use crate::message::Message;

type Show = fn(&Stats, u64) -> String;

const TOPICS: &[(&str, Show)] = &[
    ("$SYS/broker/version", |_, _| {
        format!("rekuiper {}", env!("CARGO_PKG_VERSION"))
    }),
    ("$SYS/broker/uptime", |_, now| {
        format!("{} seconds", now / 1000)
    }),
    ("$SYS/broker/clients/connected", |s, _| {
        s.connections_now.to_string()
    }),
    ("$SYS/broker/clients/total", |s, _| {
        s.sessions_now.to_string()
    }),
    ("$SYS/broker/subscriptions/count", |s, _| {
        s.subscriptions_now.to_string()
    }),
    ("$SYS/broker/retained messages/count", |s, _| {
        s.retained_now.to_string()
    }),
    ("$SYS/broker/bytes/received", |s, _| {
        s.bytes_received.to_string()
    }),
    ("$SYS/broker/bytes/sent", |s, _| s.bytes_sent.to_string()),
    ("$SYS/broker/publish/messages/received", |s, _| {
        s.messages_received.to_string()
    }),
    ("$SYS/broker/publish/messages/sent", |s, _| {
        (s.messages_sent + s.messages_linked).to_string()
    }),
    ("$SYS/broker/publish/messages/dropped", |s, _| {
        s.messages_dropped().to_string()
    }),
];

impl Core {
    pub(super) fn publish_sys(&mut self, now: u64) {
        let stats = self.snapshot();
        for (topic, show) in TOPICS {
            let message = Message {
                topic: Bytes::from_static(topic.as_bytes()),
                payload: Bytes::from(show(&stats, now)),
                qos: QoS::AtMostOnce,
                retain: true,
                properties: Bytes::new(),
                expires_at: None,
                origin: None,
                holds: 0,
            };
            self.publish_inside(&Arc::new(message));
        }
    }
}
