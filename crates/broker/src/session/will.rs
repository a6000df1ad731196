//! The message that is published when a client vanishes.

use bytes::Bytes;
use rekuiper_mqtt_codec as codec;
use rekuiper_mqtt_codec::QoS;

use crate::message::{Message, SubscriberId, sort_properties};

#[derive(Debug)]
pub(crate) struct Will {
    topic: Bytes,
    payload: Bytes,
    qos: QoS,
    retain: bool,
    properties: codec::Properties,
    pub(crate) delay_s: u32,
}

impl Will {
    pub(crate) fn new(will: codec::Will) -> Will {
        Will {
            topic: Bytes::from(will.topic.into_bytes()),
            payload: will.payload,
            qos: will.qos,
            retain: will.retain,
            delay_s: will.properties.will_delay().copied().unwrap_or(0),
            properties: will.properties,
        }
    }

    /// The message of the will; its expiry counts from when it is published.
    pub(crate) fn message(self, from: SubscriberId, now: u64) -> Message {
        let sorted = sort_properties(&self.properties, now);
        Message {
            topic: self.topic,
            payload: self.payload,
            qos: self.qos,
            retain: self.retain,
            properties: sorted.onward,
            expires_at: sorted.expires_at,
            origin: Some(from),
            holds: 0,
        }
    }
}
