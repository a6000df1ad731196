//! PUBLISH: from a client, a link or the broker itself, to all who subscribed.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use rekuiper_mqtt_codec::property::Place;
use rekuiper_mqtt_codec::publish::{self, PublishView};
use rekuiper_mqtt_codec::{PacketKind, Properties, QoS, ReasonCode, Version};

use super::{Core, Kind, Slot, Ticket};
use crate::limits::TOPIC_LEVELS_MAX;
use crate::link::{LinkError, LinkPolicy};
use crate::message::{Incoming, Message, SubscriberId, sort_properties};
use crate::router::{Route, Routes};
use crate::session::{Delivery, Offer};

/// Whose packet is looked at, and when.
#[derive(Clone, Copy)]
pub(super) struct Turn {
    pub(super) id: SubscriberId,
    pub(super) version: Version,
    pub(super) now: u64,
}

/// What became of a PUBLISH.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Taken {
    Yes,
    /// Not looked at yet: a link that blocks is full, or too many acknowledgements are owed
    NotYet,
}

pub(crate) fn too_deep(topic: &[u8]) -> bool {
    topic.iter().filter(|&&b| b == b'/').count() >= TOPIC_LEVELS_MAX
}

impl Core {
    /// A PUBLISH of a client, whose body is a part of what was read at once.
    pub(super) fn on_publish(
        &mut self,
        turn: Turn,
        flags: u8,
        chunk: &Bytes,
        body: Range<usize>,
        out: &mut Vec<u8>,
    ) -> Result<Taken, ReasonCode> {
        let Turn { id, version, now } = turn;
        let start = body.start;
        let part = |range: Range<usize>| chunk.slice(start + range.start..start + range.end);
        let view = publish::view(version, flags, &chunk[body]).map_err(|e| e.reason())?;
        let topic = part(view.topic.clone());
        let (topic, incoming) = self.resolve(id, topic, &part(view.properties.clone()), now)?;
        if topic.is_empty() {
            return Err(ReasonCode::PROTOCOL_ERROR);
        }
        if too_deep(&topic) {
            return Err(ReasonCode::TOPIC_NAME_INVALID);
        }
        if let Some(packet_id) = view.packet_id {
            match self.check_quota(id, version, packet_id, view.qos, out)? {
                Quota::Go => {}
                Quota::Repeated => return Ok(Taken::Yes),
                Quota::Wait => return Ok(Taken::NotYet),
            }
        }
        let routes = self.routes(&topic);
        if let Some(link) = self.blocked_by(&routes) {
            self.wait_for(id, link);
            return Ok(Taken::NotYet);
        }
        self.stats.messages_received += 1;
        if topic.first() == Some(&b'$') {
            // those topics are the broker's own
            self.acknowledge(id, version, &view, ReasonCode::NOT_AUTHORIZED, None, out);
            return Ok(Taken::Yes);
        }
        let message = Arc::new(Message {
            topic,
            payload: part(view.payload.clone()),
            qos: view.qos,
            retain: view.retain,
            properties: incoming.onward,
            expires_at: incoming.expires_at,
            origin: Some(id),
            holds: chunk.len(),
        });
        self.retain(&message);
        let ticket = self.ticket(id, &view, &routes);
        self.deliver(&routes, &message, ticket.as_ref());
        let reason = match routes.is_empty() {
            true => ReasonCode::NO_MATCHING_SUBSCRIBERS,
            false => ReasonCode::SUCCESS,
        };
        self.acknowledge(id, version, &view, reason, ticket.as_deref(), out);
        Ok(Taken::Yes)
    }

    /// Reads properties, and finds the topic behind an alias.
    fn resolve(
        &mut self,
        id: SubscriberId,
        topic: Bytes,
        encoded: &[u8],
        now: u64,
    ) -> Result<(Bytes, Incoming), ReasonCode> {
        if encoded.is_empty() {
            let none = Incoming {
                alias: None,
                expires_at: None,
                onward: Bytes::new(),
            };
            return Ok((topic, none));
        }
        let properties =
            Properties::decode(encoded, Place::PUBLISH).map_err(|error| error.reason())?;
        if properties.subscription_id().is_some() {
            return Err(ReasonCode::PROTOCOL_ERROR); // only a server may set it
        }
        let incoming = sort_properties(&properties, now);
        let Some(alias) = incoming.alias else {
            return Ok((topic, incoming));
        };
        if alias > self.config.limits.topic_alias_max {
            return Err(ReasonCode::TOPIC_ALIAS_INVALID);
        }
        let session = self.session(id).ok_or(ReasonCode::UNSPECIFIED_ERROR)?;
        let topic = session
            .inbound
            .alias(alias, &topic)
            .ok_or(ReasonCode::PROTOCOL_ERROR)?;
        Ok((topic, incoming))
    }

    fn check_quota(
        &mut self,
        id: SubscriberId,
        version: Version,
        packet_id: u16,
        qos: QoS,
        out: &mut Vec<u8>,
    ) -> Result<Quota, ReasonCode> {
        let receive_max = usize::from(self.config.limits.receive_max.max(1));
        let slot = self.slot(id).ok_or(ReasonCode::UNSPECIFIED_ERROR)?;
        let Kind::Session(session) = &mut slot.kind else {
            return Ok(Quota::Go);
        };
        let inbound = &mut session.inbound;
        if qos == QoS::ExactlyOnce && inbound.knows_qos2(packet_id) {
            if !inbound.is_waiting(packet_id) {
                let reason = ReasonCode::SUCCESS;
                inbound.acknowledge(PacketKind::PubRec, packet_id, reason, version, out);
            }
            return Ok(Quota::Repeated);
        }
        if version.is_v5() {
            // a client of MQTT 5 was told the bound and must keep it
            if inbound.unsettled_at_least(receive_max) {
                return Err(ReasonCode::RECEIVE_MAXIMUM_EXCEEDED);
            }
        } else if inbound.owed_len() >= receive_max {
            slot.stalled = true;
            return Ok(Quota::Wait);
        }
        Ok(Quota::Go)
    }

    /// A ticket, if this message may have to wait for the commit of a link.
    fn ticket(
        &mut self,
        id: SubscriberId,
        view: &PublishView,
        routes: &Routes,
    ) -> Option<Arc<Ticket>> {
        if view.qos == QoS::AtMostOnce || !routes.has_links {
            return None;
        }
        let session = self.session(id)?;
        let (serial, seq) = (session.serial, session.inbound.next_seq());
        Some(Arc::new(Ticket {
            session: id,
            serial,
            seq,
            open: AtomicUsize::new(0),
        }))
    }

    fn acknowledge(
        &mut self,
        id: SubscriberId,
        version: Version,
        view: &PublishView,
        reason: ReasonCode,
        ticket: Option<&Ticket>,
        out: &mut Vec<u8>,
    ) {
        let (Some(packet_id), Some(session)) = (view.packet_id, self.session(id)) else {
            return;
        };
        let kind = match view.qos {
            QoS::ExactlyOnce => PacketKind::PubRec,
            _ => PacketKind::PubAck,
        };
        // after a refusing PUBREC there is no PUBREL, so nothing is remembered
        if kind == PacketKind::PubRec && !(version.is_v5() && reason.is_error()) {
            session.inbound.take_qos2(packet_id);
        }
        if ticket.is_some_and(|ticket| ticket.open.load(Ordering::Relaxed) > 0) {
            session.inbound.owe(kind, packet_id);
        } else {
            session
                .inbound
                .acknowledge(kind, packet_id, reason, version, out);
        }
    }

    fn retain(&mut self, message: &Arc<Message>) {
        if !message.retain {
            return;
        }
        let limits = &self.config.limits;
        let (count_max, bytes_max) = (limits.retained_messages_max, limits.retained_bytes_max);
        if !self.retained.set(message, count_max, bytes_max) {
            self.stats.dropped_retained_full += 1;
        }
    }

    fn routes(&mut self, topic: &[u8]) -> Arc<Routes> {
        let slots = &self.slots;
        self.router.routes(topic, |id| {
            let slot = slots.get(id.index()).and_then(Option::as_ref);
            slot.is_some_and(|slot| matches!(slot.kind, Kind::Link(_)))
        })
    }

    /// A full link that would rather make the publisher wait than lose the message.
    fn blocked_by(&mut self, routes: &Routes) -> Option<SubscriberId> {
        if !routes.has_links {
            return None;
        }
        let slots = &self.slots;
        let blocks = |id: SubscriberId| match slots.get(id.index()) {
            Some(Some(Slot {
                kind: Kind::Link(link),
                ..
            })) => link.options.policy == LinkPolicy::Block && link.is_full(),
            _ => false,
        };
        if let Some(route) = routes.direct.iter().find(|route| blocks(route.to)) {
            return Some(route.to);
        }
        for &group in &routes.groups {
            let members = &self.router.group(group).members;
            if members.iter().all(|(id, _)| blocks(*id)) {
                return members.first().map(|(id, _)| *id);
            }
        }
        None
    }

    fn deliver(&mut self, routes: &Routes, message: &Arc<Message>, ticket: Option<&Arc<Ticket>>) {
        for route in &routes.direct {
            if route.no_local && message.origin == Some(route.to) {
                continue;
            }
            self.deliver_to(route, message, ticket);
        }
        for &group in &routes.groups {
            let slots = &self.slots;
            let limits = &self.config.limits;
            let ready = |id: SubscriberId| match slots.get(id.index()) {
                Some(Some(Slot {
                    kind: Kind::Link(link),
                    ..
                })) => !link.is_full(),
                Some(Some(Slot {
                    kind: Kind::Session(session),
                    ..
                })) => {
                    let (count, bytes) = (limits.queue_messages_max, limits.queue_bytes_max);
                    session.is_online() && !session.outbound.is_full(count, bytes)
                }
                _ => false,
            };
            let group = self.router.group(group);
            // nobody is there: it waits for the member whose turn it is
            let route = group
                .next(|id, _| ready(id))
                .or_else(|| group.next(|_, _| true));
            if let Some(route) = route {
                self.deliver_to(&route, message, ticket);
            }
        }
    }

    fn deliver_to(&mut self, route: &Route, message: &Arc<Message>, ticket: Option<&Arc<Ticket>>) {
        let limits = &self.config.limits;
        let (count, bytes) = (limits.queue_messages_max, limits.queue_bytes_max);
        let Some(Some(slot)) = self.slots.get_mut(route.to.index()) else {
            return;
        };
        let qos = route.qos.min(message.qos);
        match &mut slot.kind {
            Kind::Session(session) => {
                let retain = route.retain_as_published && message.retain;
                let ids = route.ids.clone();
                let delivery = Delivery {
                    message: message.clone(),
                    qos,
                    retain,
                    ids,
                };
                let online = session.is_online();
                match session.outbound.offer(delivery, online, count, bytes) {
                    Offer::Queued if online => self.knock(route.to),
                    Offer::Queued | Offer::Away => {}
                    Offer::Full => self.stats.dropped_queue_full += 1,
                }
            }
            Kind::Link(link) => {
                let mut forgone = None;
                if link.is_full() {
                    link.dropped += 1;
                    self.stats.dropped_link_full += 1;
                    if link.options.policy != LinkPolicy::DropOldest {
                        return;
                    }
                    forgone = link.drop_oldest();
                }
                link.push(message.clone(), qos, false, ticket);
                // dropping it was asked for: its publisher need not wait any longer
                if let Some(ticket) = forgone {
                    self.commit(&ticket);
                }
                self.knock(route.to);
            }
        }
    }

    /// A message of the broker itself: a will, a `$SYS` topic. It cannot wait.
    pub(super) fn publish_inside(&mut self, message: &Arc<Message>) {
        self.retain(message);
        let routes = self.routes(&message.topic);
        self.deliver(&routes, message, None);
    }

    /// A message of a link; `Full` = it must wait for room and has not been published.
    pub(crate) fn link_publish(
        &mut self,
        id: SubscriberId,
        message: &Arc<Message>,
    ) -> Result<(), LinkError> {
        if self.shutting_down || self.link(id).is_none() {
            return Err(LinkError::Closed);
        }
        let routes = self.routes(&message.topic);
        if let Some(link) = self.blocked_by(&routes) {
            self.wait_for(id, link);
            return Err(LinkError::Full);
        }
        self.stats.messages_from_links += 1;
        self.retain(message);
        self.deliver(&routes, message, None);
        Ok(())
    }
}

enum Quota {
    Go,
    /// A QoS 2 message that came again
    Repeated,
    Wait,
}
