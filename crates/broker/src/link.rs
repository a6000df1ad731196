//! The in-process door: subscribe, publish and receive without a socket.

use std::sync::Arc;

use bytes::Bytes;
use rekuiper_mqtt_codec::{QoS, valid_name};

use crate::core::{Core, too_deep};
use crate::door::Door;
use crate::handle::Shared;
use crate::message::{Message, SubscriberId, encode_user_properties, user_properties};

/// What a link does with a message when its queue is full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkPolicy {
    /// The publisher's socket is not read from until there is room; nothing is lost
    #[default]
    Block,
    /// The new message is dropped and counted
    DropNewest,
    /// The oldest message in the queue is dropped and counted
    DropOldest,
}

#[derive(Clone, Debug)]
pub struct LinkOptions {
    pub policy: LinkPolicy,
    /// Messages waiting in the queue of this link
    pub queue_messages_max: usize,
    /// The same in bytes
    pub queue_bytes_max: usize,
    /// PUBACK and PUBREC to a publisher wait until this link acknowledged the message. Concerns
    /// what arrives at QoS 1 or 2, so the link must subscribe at one of these
    pub ack_after_link: bool,
    /// Messages published through this link do not come back to it
    pub no_local: bool,
}

impl Default for LinkOptions {
    fn default() -> Self {
        LinkOptions {
            policy: LinkPolicy::Block,
            queue_messages_max: 4096,
            queue_bytes_max: 16 * 1024 * 1024,
            ack_after_link: false,
            no_local: false,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkStats {
    pub queued: u64,
    pub queued_bytes: u64,
    /// Handed out under `ack_after_link` and not acknowledged yet
    pub uncommitted: u64,
    pub received: u64,
    pub dropped: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    #[error("the broker is shut down")]
    Closed,
    #[error("topic {0:?} is not valid: it must not be empty, hold wildcards or begin with $")]
    BadTopic(String),
    #[error("topic filter {0:?} is not valid: + and # must fill a level, # only the last")]
    BadFilter(String),
    #[error("a user property is longer than 65535 bytes, or holds U+0000")]
    BadProperty,
    #[error("a subscriber that blocks is full; try again later")]
    Full,
    #[error("message of {len} bytes is larger than the {max} the broker takes")]
    TooLarge { len: usize, max: usize },
}

/// UTF-8 text that shares memory with the packet it came in.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Text(Bytes);

impl Text {
    pub fn as_str(&self) -> &str {
        // checked when the packet was read
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    pub fn bytes(&self) -> &Bytes {
        &self.0
    }
}

impl std::fmt::Debug for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_str().fmt(f)
    }
}

/// Names a received message to [`LinkHandle::ack`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AckHandle(u64);

/// A message as a link receives it.
#[derive(Clone, Debug)]
pub struct LinkMessage {
    pub topic: Text,
    pub payload: Bytes,
    pub qos: QoS,
    /// It was kept by the broker from before the subscription
    pub retain: bool,
    /// There if somebody waits for the commit of this message
    pub ack: Option<AckHandle>,
    pub user_properties: Vec<(String, String)>,
}

/// The receiving end of a link. Dropping it ends its subscriptions; publishers of messages it
/// took under `ack_after_link` and did not acknowledge are disconnected, so that they resend.
pub struct Link {
    handle: LinkHandle,
    door: Arc<Door>,
}

/// Publishes, subscribes and acknowledges on behalf of a [`Link`]; may be cloned and sent about.
#[derive(Clone)]
pub struct LinkHandle {
    shared: Arc<Shared>,
    id: SubscriberId,
    name: Arc<str>,
    space: Arc<Door>,
}

impl Link {
    pub(crate) fn open(
        shared: Arc<Shared>,
        name: &str,
        mut options: LinkOptions,
    ) -> Result<Link, LinkError> {
        options.queue_messages_max = options.queue_messages_max.max(1);
        options.queue_bytes_max = options.queue_bytes_max.max(1);
        let (door, space) = (Arc::new(Door::default()), Arc::new(Door::default()));
        let opened = shared.with(|core| core.open_link(options, door.clone(), space.clone()));
        let id = opened.ok_or(LinkError::Closed)?;
        Ok(Link {
            handle: LinkHandle {
                shared,
                id,
                name: name.into(),
                space,
            },
            door,
        })
    }

    /// A handle for other tasks, which does not keep the link open.
    pub fn handle(&self) -> LinkHandle {
        self.handle.clone()
    }

    /// Appends up to `max` messages to `out`, waiting for the first; returns how many. Safe to
    /// cancel: nothing is taken before it is returned.
    pub async fn recv(
        &mut self,
        max: usize,
        out: &mut Vec<LinkMessage>,
    ) -> Result<usize, LinkError> {
        loop {
            let taken = self.try_recv(max, out);
            if taken > 0 || max == 0 {
                return Ok(taken);
            }
            if self.door.closed().is_some() {
                return Err(LinkError::Closed);
            }
            self.door.knocked().await;
        }
    }

    /// As [`Link::recv`], without waiting.
    pub fn try_recv(&mut self, max: usize, out: &mut Vec<LinkMessage>) -> usize {
        let mut taken = Vec::new();
        let id = self.handle.id;
        let now = self.shared.now();
        let count = self
            .shared
            .with(|core| core.link_take(id, max, now, &mut taken));
        out.extend(taken.into_iter().map(|(delivery, number)| LinkMessage {
            topic: Text(delivery.message.topic.clone()),
            payload: delivery.message.payload.clone(),
            qos: delivery.qos,
            retain: delivery.retain,
            ack: number.map(AckHandle),
            user_properties: user_properties(&delivery.message.properties),
        }));
        count
    }
}

impl std::ops::Deref for Link {
    type Target = LinkHandle;

    fn deref(&self) -> &LinkHandle {
        &self.handle
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        self.handle
            .shared
            .with(|core| core.close_link(self.handle.id));
    }
}

impl LinkHandle {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Asked under the lock, as the place of a closed link may be given to another.
    fn with_open<R>(&self, work: impl FnOnce(&mut Core) -> R) -> Result<R, LinkError> {
        self.shared.with(|core| match self.space.closed() {
            None => Ok(work(core)),
            Some(_) => Err(LinkError::Closed),
        })
    }

    /// Subscribes to all filters (`$share/…` too), or to none if one of them is not valid.
    pub fn subscribe<S: AsRef<str>>(&self, filters: &[S], qos: QoS) -> Result<(), LinkError> {
        let bad = |f: &&S| !crate::core::acceptable_filter(f.as_ref());
        if let Some(filter) = filters.iter().find(bad) {
            return Err(LinkError::BadFilter(filter.as_ref().to_owned()));
        }
        let now = self.shared.now();
        self.with_open(|core| {
            for filter in filters {
                core.link_subscribe(self.id, filter.as_ref(), qos, now);
            }
        })
    }

    /// Ends a subscription; `false` = there was none.
    pub fn unsubscribe(&self, filter: &str) -> bool {
        self.shared
            .with(|core| core.link_unsubscribe(self.id, filter))
    }

    /// Publishes; waits while a subscriber that blocks is full.
    pub async fn publish(
        &self,
        topic: &str,
        payload: impl Into<Bytes>,
        qos: QoS,
        retain: bool,
    ) -> Result<(), LinkError> {
        self.publish_with(topic, payload, qos, retain, &[]).await
    }

    /// As [`LinkHandle::publish`], with user properties for subscribers of MQTT 5.
    pub async fn publish_with(
        &self,
        topic: &str,
        payload: impl Into<Bytes>,
        qos: QoS,
        retain: bool,
        user_properties: &[(String, String)],
    ) -> Result<(), LinkError> {
        let mut message = self.message(topic, payload.into(), qos, retain)?;
        message.properties = encode_user_properties(user_properties)?;
        let message = Arc::new(message);
        loop {
            match self.offer(&message) {
                Err(LinkError::Full) => self.space.knocked().await,
                // others may wait at the same door; who finds no room waits again
                done => {
                    self.space.knock();
                    return done;
                }
            }
        }
    }

    /// Publishes, or says that it would have to wait.
    pub fn try_publish(
        &self,
        topic: &str,
        payload: impl Into<Bytes>,
        qos: QoS,
        retain: bool,
    ) -> Result<(), LinkError> {
        let message = Arc::new(self.message(topic, payload.into(), qos, retain)?);
        self.offer(&message)
    }

    fn message(
        &self,
        topic: &str,
        payload: Bytes,
        qos: QoS,
        retain: bool,
    ) -> Result<Message, LinkError> {
        if !valid_name(topic) || topic.starts_with('$') || too_deep(topic.as_bytes()) {
            return Err(LinkError::BadTopic(topic.to_owned()));
        }
        let max = self.shared.with(|core| core.config.limits.packet_bytes_max);
        let len = topic.len() + payload.len();
        if len > max {
            return Err(LinkError::TooLarge { len, max });
        }
        Ok(Message {
            topic: Bytes::copy_from_slice(topic.as_bytes()),
            payload,
            qos,
            retain,
            properties: Bytes::new(),
            expires_at: None,
            origin: Some(self.id),
            holds: 0,
        })
    }

    fn offer(&self, message: &Arc<Message>) -> Result<(), LinkError> {
        self.with_open(|core| core.link_publish(self.id, message))?
    }

    /// The message is committed: what waited for that goes on. Without effect the second time.
    pub fn ack(&self, handle: AckHandle) {
        self.ack_all([handle]);
    }

    /// As [`LinkHandle::ack`] for many, at the price of one.
    pub fn ack_all(&self, handles: impl IntoIterator<Item = AckHandle>) {
        // a link that is closed has nothing left to commit
        let _ = self.with_open(|core| {
            for handle in handles {
                core.link_ack(self.id, handle.0);
            }
        });
    }

    pub fn stats(&self) -> LinkStats {
        self.with_open(|core| core.link_stats(self.id))
            .unwrap_or_default()
    }
}
