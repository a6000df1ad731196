//! Messages on their way to one client: a bounded queue, then the window of those sent and not
//! yet acknowledged.

use std::collections::VecDeque;
use std::sync::Arc;

use rekuiper_mqtt_codec::publish::{self, PublishParts};
use rekuiper_mqtt_codec::{PacketKind, Property, QoS, ReasonCode, VarInt, Version, ack};

use crate::limits::COMPACT_FROM_QUEUED;
use crate::message::Message;

/// One message as one receiver gets it.
#[derive(Clone, Debug)]
pub(crate) struct Delivery {
    pub(crate) message: Arc<Message>,
    pub(crate) qos: QoS,
    pub(crate) retain: bool,
    pub(crate) ids: Option<Arc<[u32]>>,
}

/// What became of a message that was offered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Offer {
    Queued,
    /// The queue is full
    Full,
    /// QoS 0 is not kept for a client that is away
    Away,
}

/// What the client on the other end can take.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendTerms {
    pub(crate) receive_max: u16,
    pub(crate) packet_bytes_max: usize,
}

/// What [`Outbound::fill`] did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filled {
    pub(crate) sent: u64,
    pub(crate) expired: u64,
    pub(crate) too_large: u64,
    /// The budget ended before the queue did
    pub(crate) more: bool,
}

#[derive(Debug)]
enum Stage {
    /// PUBLISH sent, PUBACK or PUBREC awaited
    Published(Delivery),
    /// PUBREL sent, PUBCOMP awaited
    Released,
}

#[derive(Debug)]
struct Inflight {
    packet_id: u16,
    stage: Stage,
}

impl Inflight {
    /// A released message is the client's; only its identifier is left.
    fn cost(&self) -> usize {
        match &self.stage {
            Stage::Published(delivery) => delivery.message.cost(),
            Stage::Released => 0,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct Outbound {
    queue: VecDeque<Delivery>,
    /// Of the messages in the queue and of those in flight
    bytes: usize,
    /// In the order of sending, so that an answer is nearly always for the first
    inflight: VecDeque<Inflight>,
    /// How many of `inflight` this connection has sent
    sent: usize,
    last_id: u16,
}

impl Outbound {
    pub(crate) fn is_full(&self, count_max: usize, bytes_max: usize) -> bool {
        self.queue.len() >= count_max || self.bytes >= bytes_max
    }

    /// Queues a live message, if there is room for it.
    pub(crate) fn offer(
        &mut self,
        mut delivery: Delivery,
        online: bool,
        count_max: usize,
        bytes_max: usize,
    ) -> Offer {
        if !online && delivery.qos == QoS::AtMostOnce {
            return Offer::Away;
        }
        if self.is_full(count_max, bytes_max) {
            return Offer::Full;
        }
        if !online || self.queue.len() >= COMPACT_FROM_QUEUED {
            delivery.message = delivery.message.compact();
        }
        self.push(delivery);
        Offer::Queued
    }

    /// Queues without looking at the bound: for the retained messages of a new subscription,
    /// which are bounded by their store and share its memory.
    pub(crate) fn push(&mut self, delivery: Delivery) {
        self.bytes += delivery.message.cost();
        self.queue.push_back(delivery);
    }

    fn pop(&mut self) -> Option<Delivery> {
        let delivery = self.queue.pop_front()?;
        self.bytes -= delivery.message.cost();
        if self.queue.is_empty() && self.queue.capacity() > COMPACT_FROM_QUEUED {
            self.queue = VecDeque::new();
        }
        Some(delivery)
    }

    /// A new connection: everything in flight is sent again, in order, before anything new.
    pub(crate) fn restart(&mut self) {
        self.sent = 0;
    }

    /// Without a connection QoS 0 is not kept, and without a session nothing is.
    pub(crate) fn go_offline(&mut self, keep: bool) {
        if keep {
            self.queue
                .retain(|delivery| delivery.qos != QoS::AtMostOnce);
            let queued = self.queue.iter().map(|d| d.message.cost());
            self.bytes = queued.chain(self.inflight.iter().map(Inflight::cost)).sum();
        } else {
            *self = Outbound {
                last_id: self.last_id,
                ..Outbound::default()
            };
        }
    }

    /// Writes what may be sent now, until `out` is about `budget` long.
    pub(crate) fn fill(
        &mut self,
        version: Version,
        terms: &SendTerms,
        now: u64,
        budget: usize,
        out: &mut Vec<u8>,
    ) -> Filled {
        let mut filled = Filled::default();
        self.resend(version, now, budget, out, &mut filled);
        while let Some(next) = self.queue.front() {
            if out.len() >= budget {
                filled.more = true;
                break;
            }
            let tracked = next.qos != QoS::AtMostOnce;
            if tracked && self.inflight.len() >= usize::from(terms.receive_max) {
                break;
            }
            let Some(delivery) = self.pop() else { break };
            if delivery.message.expired(now) {
                filled.expired += 1;
                continue;
            }
            let packet_id = if tracked { Some(self.next_id()) } else { None };
            if !write(
                &delivery,
                version,
                packet_id,
                false,
                now,
                terms.packet_bytes_max,
                out,
            ) {
                filled.too_large += 1;
                continue;
            }
            filled.sent += 1;
            if let Some(packet_id) = packet_id {
                self.bytes += delivery.message.cost();
                let stage = Stage::Published(delivery);
                self.inflight.push_back(Inflight { packet_id, stage });
                self.sent = self.inflight.len();
            }
        }
        filled
    }

    fn resend(
        &mut self,
        version: Version,
        now: u64,
        budget: usize,
        out: &mut Vec<u8>,
        filled: &mut Filled,
    ) {
        while let Some(next) = self.inflight.get(self.sent) {
            if out.len() >= budget {
                filled.more = true;
                return;
            }
            let id = next.packet_id;
            match &next.stage {
                Stage::Published(delivery) => {
                    filled.sent += 1;
                    write(delivery, version, Some(id), true, now, usize::MAX, out);
                }
                Stage::Released => {
                    ack::write(out, version, PacketKind::PubRel, id, ReasonCode::SUCCESS);
                }
            }
            self.sent += 1;
        }
    }

    /// An identifier that is not in flight. There is one: the window is smaller than the space.
    fn next_id(&mut self) -> u16 {
        loop {
            self.last_id = self.last_id.checked_add(1).unwrap_or(1);
            let id = self.last_id;
            // identifiers rise, so a clash is only possible after a whole round
            if !self
                .inflight
                .iter()
                .any(|inflight| inflight.packet_id == id)
            {
                return id;
            }
        }
    }

    fn find(&self, packet_id: u16) -> Option<usize> {
        self.inflight
            .iter()
            .position(|inflight| inflight.packet_id == packet_id)
    }

    fn settle(&mut self, at: usize) {
        self.bytes -= self
            .inflight
            .remove(at)
            .map_or(0, |inflight| inflight.cost());
        if at < self.sent {
            self.sent -= 1;
        }
        if self.inflight.is_empty() {
            self.inflight = VecDeque::new();
        }
    }

    /// PUBACK; `false` = it answers nothing we sent.
    pub(crate) fn on_puback(&mut self, packet_id: u16) -> bool {
        let Some(at) = self.find(packet_id) else {
            return false;
        };
        let Stage::Published(delivery) = &self.inflight[at].stage else {
            return false;
        };
        let right = delivery.qos == QoS::AtLeastOnce;
        if right {
            self.settle(at);
        }
        right
    }

    /// PUBREC: with success the message is the client's and PUBREL goes out, otherwise it is over.
    pub(crate) fn on_pubrec(
        &mut self,
        id: u16,
        refused: bool,
        version: Version,
        out: &mut Vec<u8>,
    ) {
        let reason = match self.find(id) {
            Some(at) if refused => return self.settle(at),
            Some(at) => {
                self.bytes -= self.inflight[at].cost();
                self.inflight[at].stage = Stage::Released;
                ReasonCode::SUCCESS
            }
            None => ReasonCode::PACKET_ID_NOT_FOUND,
        };
        ack::write(out, version, PacketKind::PubRel, id, reason);
    }

    /// PUBCOMP; `false` = it answers nothing we sent.
    pub(crate) fn on_pubcomp(&mut self, packet_id: u16) -> bool {
        let Some(at) = self.find(packet_id) else {
            return false;
        };
        let released = matches!(self.inflight[at].stage, Stage::Released);
        if released {
            self.settle(at);
        }
        released
    }
}

/// Writes one PUBLISH; `false` = it is too large for the receiver, nothing was written.
fn write(
    delivery: &Delivery,
    version: Version,
    packet_id: Option<u16>,
    dup: bool,
    now: u64,
    bytes_max: usize,
    out: &mut Vec<u8>,
) -> bool {
    let message = &delivery.message;
    let own = if version.is_v5() {
        own_properties(delivery, now)
    } else {
        Vec::new()
    };
    let parts = PublishParts {
        topic: &message.topic,
        packet_id,
        qos: delivery.qos,
        dup,
        retain: delivery.retain,
        properties: [&own, &message.properties],
        payload: &message.payload,
    };
    parts.encoded_len(version) <= bytes_max && publish::write(out, version, &parts).is_ok()
}

/// The properties this receiver alone gets: what is left of the expiry, its subscription ids.
fn own_properties(delivery: &Delivery, now: u64) -> Vec<u8> {
    let mut own = Vec::new();
    let expiry = delivery.message.expires_at.map(|at| {
        let left_s = at.saturating_sub(now).div_ceil(1000);
        Property::MessageExpiryInterval(u32::try_from(left_s).unwrap_or(u32::MAX))
    });
    let ids = delivery.ids.as_deref().unwrap_or_default();
    let ids = ids
        .iter()
        .map(|&id| Property::SubscriptionIdentifier(VarInt(id)));
    for property in expiry.into_iter().chain(ids) {
        let before = own.len();
        if property.write(&mut own).is_err() {
            own.truncate(before);
        }
    }
    own
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use rekuiper_mqtt_codec::Packet;

    const TERMS: SendTerms = SendTerms {
        receive_max: 2,
        packet_bytes_max: 1000,
    };

    fn delivery(payload: &'static str, qos: QoS, expires_at: Option<u64>) -> Delivery {
        let message = Arc::new(Message {
            topic: Bytes::from_static(b"t"),
            payload: Bytes::from_static(payload.as_bytes()),
            qos,
            retain: false,
            properties: Bytes::new(),
            expires_at,
            origin: None,
            holds: 0,
        });
        Delivery {
            message,
            qos,
            retain: false,
            ids: None,
        }
    }

    fn drain(outbound: &mut Outbound, now: u64) -> (Vec<String>, Filled) {
        let mut out = Vec::new();
        let filled = outbound.fill(Version::V5, &TERMS, now, 10_000, &mut out);
        let mut seen = Vec::new();
        let mut rest = &out[..];
        while let Ok(Some((packet, used))) = Packet::decode(Version::V5, rest) {
            seen.push(match packet {
                Packet::Publish(p) => {
                    let dup = if p.dup { "dup " } else { "" };
                    let id = p.packet_id.unwrap_or(0);
                    format!("{dup}{} #{id}", String::from_utf8_lossy(&p.payload))
                }
                Packet::PubRel(ack) => format!("rel #{}", ack.packet_id),
                other => format!("{other:?}"),
            });
            rest = &rest[used..];
        }
        (seen, filled)
    }

    #[test]
    fn the_window_holds_back_and_a_new_connection_repeats() {
        let mut outbound = Outbound::default();
        for payload in ["a", "b", "c"] {
            outbound.offer(delivery(payload, QoS::ExactlyOnce, None), true, 9, 9000);
        }
        assert_eq!(drain(&mut outbound, 0).0, ["a #1", "b #2"]);
        let mut out = Vec::new();
        outbound.on_pubrec(1, false, Version::V5, &mut out);
        assert_eq!(out, [0x62, 2, 0, 1]);
        assert_eq!(drain(&mut outbound, 0).0, [""; 0]);
        outbound.restart();
        assert_eq!(drain(&mut outbound, 0).0, ["rel #1", "dup b #2"]);
        assert!(!outbound.on_puback(2), "a PUBACK does not settle QoS 2");
        assert!(outbound.on_pubcomp(1) && !outbound.on_pubcomp(1));
        assert_eq!(drain(&mut outbound, 0).0, ["c #3"]);
        outbound.on_pubrec(2, true, Version::V5, &mut out);
        outbound.on_pubrec(3, false, Version::V5, &mut out);
        assert!(outbound.on_pubcomp(3));
        assert_eq!((outbound.bytes, outbound.inflight.len()), (0, 0));
    }

    #[test]
    fn full_expired_large_and_away() {
        let mut outbound = Outbound::default();
        let offer = |o: &mut Outbound, d, online| o.offer(d, online, 2, 9000);
        let (q0, q1) = (QoS::AtMostOnce, QoS::AtLeastOnce);
        assert_eq!(
            offer(&mut outbound, delivery("a", q0, None), false),
            Offer::Away
        );
        assert_eq!(
            offer(&mut outbound, delivery("a", q1, Some(5)), false),
            Offer::Queued
        );
        assert_eq!(
            offer(&mut outbound, delivery("b", q0, None), true),
            Offer::Queued
        );
        assert_eq!(
            offer(&mut outbound, delivery("c", q1, None), true),
            Offer::Full
        );
        let (seen, filled) = drain(&mut outbound, 5);
        assert_eq!((seen, filled.expired), (vec!["b #0".to_owned()], 1));
        let large: &'static str = "x".repeat(2000).leak();
        offer(&mut outbound, delivery(large, q1, None), true);
        let (seen, filled) = drain(&mut outbound, 5);
        assert_eq!((seen.len(), filled.too_large), (0, 1));
    }
}
