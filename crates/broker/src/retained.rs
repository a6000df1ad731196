//! The last retained message of each topic, in order of topic, bounded in count and bytes.

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use rekuiper_mqtt_codec::topic_matches;

use crate::message::Message;

#[derive(Debug, Default)]
pub(crate) struct Retained {
    messages: BTreeMap<Bytes, Arc<Message>>,
    bytes: usize,
}

impl Retained {
    pub(crate) fn len(&self) -> usize {
        self.messages.len()
    }

    /// Keeps the message, or with an empty payload forgets its topic. `false` = no room.
    pub(crate) fn set(
        &mut self,
        message: &Arc<Message>,
        count_max: usize,
        bytes_max: usize,
    ) -> bool {
        let old = self.messages.get(&message.topic).map(|old| old.cost());
        if message.payload.is_empty() {
            self.messages.remove(&message.topic);
            self.bytes -= old.unwrap_or(0);
            return true;
        }
        let bytes = self.bytes - old.unwrap_or(0) + message.cost();
        if bytes > bytes_max || (old.is_none() && self.messages.len() >= count_max) {
            return false;
        }
        let message = message.compact();
        self.bytes = bytes;
        // the old key would keep the old message's memory alive
        self.messages.remove(&message.topic);
        self.messages.insert(message.topic.clone(), message);
        true
    }

    /// The messages a new subscription to `filter` gets; expired ones are forgotten on the way.
    pub(crate) fn matching(&mut self, filter: &str, now: u64) -> Vec<Arc<Message>> {
        let literal = filter.find(['+', '#']).map_or(filter, |at| &filter[..at]);
        // `a/#` matches `a` too
        let prefix = literal.strip_suffix('/').unwrap_or(literal).as_bytes();
        let mut found = Vec::new();
        let mut expired = Vec::new();
        let from = (Bound::Included(prefix), Bound::Unbounded);
        for (topic, message) in self.messages.range::<[u8], _>(from) {
            if !topic.starts_with(prefix) {
                break;
            }
            if message.expired(now) {
                expired.push(topic.clone());
            } else if topic_matches(filter, message.topic_str()) {
                found.push(message.clone());
            }
        }
        for topic in expired {
            if let Some(message) = self.messages.remove(&topic) {
                self.bytes -= message.cost();
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rekuiper_mqtt_codec::QoS;

    fn message(topic: &str, payload: &str, expires_at: Option<u64>) -> Arc<Message> {
        Arc::new(Message {
            topic: Bytes::copy_from_slice(topic.as_bytes()),
            payload: Bytes::copy_from_slice(payload.as_bytes()),
            qos: QoS::AtMostOnce,
            retain: true,
            properties: Bytes::new(),
            expires_at,
            origin: None,
            holds: 0,
        })
    }

    fn topics(store: &mut Retained, filter: &str, now: u64) -> Vec<String> {
        store
            .matching(filter, now)
            .iter()
            .map(|m| m.topic_str().to_owned())
            .collect()
    }

    #[test]
    fn finds_by_filter_and_forgets() {
        let mut store = Retained::default();
        for topic in ["a", "a/b", "a/b/c", "b", "$SYS/x", "ab"] {
            assert!(store.set(&message(topic, "1", None), 10, 10_000));
        }
        assert_eq!(topics(&mut store, "a/#", 0), ["a", "a/b", "a/b/c"]);
        assert_eq!(topics(&mut store, "+", 0), ["a", "ab", "b"]);
        assert_eq!(topics(&mut store, "a/b", 0), ["a/b"]);
        assert_eq!(topics(&mut store, "$SYS/#", 0), ["$SYS/x"]);
        assert!(store.set(&message("a/b", "", None), 10, 10_000));
        assert_eq!(topics(&mut store, "a/#", 0), ["a", "a/b/c"]);
    }

    #[test]
    fn is_bounded_and_expires() {
        let mut store = Retained::default();
        assert!(store.set(&message("a", "1", Some(5)), 2, 10_000));
        assert!(store.set(&message("b", "1", None), 2, 10_000));
        assert!(!store.set(&message("c", "1", None), 2, 10_000));
        assert!(
            store.set(&message("a", "2", Some(5)), 2, 10_000),
            "replacing needs no room"
        );
        assert!(!store.set(&message("b", &"x".repeat(10_000), None), 2, 10_000));
        assert_eq!(topics(&mut store, "#", 4), ["a", "b"]);
        assert_eq!(topics(&mut store, "#", 5), ["b"]);
        assert_eq!(store.len(), 1);
        assert!(store.set(&message("b", "", None), 2, 10_000));
        assert_eq!(store.bytes, 0);
    }
}
