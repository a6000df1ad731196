//! A message on its way through the broker: shared, never copied per receiver.

use std::sync::Arc;

use bytes::Bytes;
use rekuiper_mqtt_codec::property::Place;
use rekuiper_mqtt_codec::{Properties, Property, QoS};

use crate::LinkError;
use crate::limits::MESSAGE_OVERHEAD_BYTES;

/// Index of a session or link in the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct SubscriberId(pub(crate) u32);

impl SubscriberId {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Message {
    /// A valid topic name
    pub(crate) topic: Bytes,
    pub(crate) payload: Bytes,
    pub(crate) qos: QoS,
    pub(crate) retain: bool,
    /// The MQTT 5 properties that travel on, encoded; expiry apart, as it shrinks on the way
    pub(crate) properties: Bytes,
    pub(crate) expires_at: Option<u64>,
    pub(crate) origin: Option<SubscriberId>,
    /// Bytes of the allocation this message keeps alive
    pub(crate) holds: usize,
}

impl Message {
    /// What it costs in a queue.
    pub(crate) fn cost(&self) -> usize {
        self.topic.len() + self.payload.len() + self.properties.len() + MESSAGE_OVERHEAD_BYTES
    }

    pub(crate) fn topic_str(&self) -> &str {
        std::str::from_utf8(&self.topic).unwrap_or_default()
    }

    pub(crate) fn expired(&self, now: u64) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }

    /// A message in memory of its own, if this one holds much more than it needs.
    pub(crate) fn compact(self: &Arc<Message>) -> Arc<Message> {
        if self.holds <= 2 * self.cost() {
            return self.clone();
        }
        let mut own = Vec::with_capacity(self.cost() - MESSAGE_OVERHEAD_BYTES);
        own.extend_from_slice(&self.topic);
        own.extend_from_slice(&self.payload);
        own.extend_from_slice(&self.properties);
        let mut payload = Bytes::from(own);
        let topic = payload.split_to(self.topic.len());
        let properties = payload.split_off(self.payload.len());
        let holds = self.cost();
        Arc::new(Message {
            topic,
            payload,
            properties,
            holds,
            ..(**self).clone()
        })
    }
}

/// The properties of a published message, sorted by who they are for.
pub(crate) struct Incoming {
    pub(crate) alias: Option<u16>,
    pub(crate) expires_at: Option<u64>,
    pub(crate) onward: Bytes,
}

/// Splits properties into those for the broker and those that travel on unchanged.
pub(crate) fn sort_properties(properties: &Properties, now: u64) -> Incoming {
    let mut onward = Vec::new();
    for property in properties.iter() {
        match property {
            Property::PayloadFormatIndicator(_)
            | Property::ContentType(_)
            | Property::ResponseTopic(_)
            | Property::CorrelationData(_)
            | Property::UserProperty(_) => {
                let before = onward.len();
                if property.write(&mut onward).is_err() {
                    onward.truncate(before);
                }
            }
            _ => {}
        }
    }
    let expiry = properties
        .message_expiry()
        .map(|&s| now + u64::from(s) * 1000);
    Incoming {
        alias: properties.topic_alias().copied(),
        expires_at: expiry,
        onward: Bytes::from(onward),
    }
}

/// The user properties of a message, decoded for those who want them.
pub(crate) fn user_properties(encoded: &[u8]) -> Vec<(String, String)> {
    if encoded.is_empty() {
        return Vec::new();
    }
    let properties = Properties::decode(encoded, Place::PUBLISH).unwrap_or_default();
    properties
        .user_properties()
        .map(|(k, v)| (k.to_owned(), v.to_owned()))
        .collect()
}

/// User properties as they travel.
pub(crate) fn encode_user_properties(list: &[(String, String)]) -> Result<Bytes, LinkError> {
    let mut out = Vec::new();
    for pair in list {
        let property = Property::UserProperty(pair.clone());
        property
            .write(&mut out)
            .map_err(|_| LinkError::BadProperty)?;
    }
    Ok(Bytes::from(out))
}
