//! What came from a client and is not settled: QoS 2 identifiers, acknowledgements in the order
//! of receipt, topic aliases.

use std::collections::VecDeque;

use bytes::Bytes;
use rekuiper_mqtt_codec::{PacketKind, ReasonCode, Version, ack};

/// Names one acknowledgement that is still owed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AckSeq(u64);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Somebody has to commit the message first
    Waiting,
    Ready,
    /// The connection it came by is gone
    Void,
}

#[derive(Debug)]
struct Owed {
    packet_id: u16,
    kind: PacketKind,
    reason: ReasonCode,
    state: State,
}

#[derive(Debug, Default)]
pub(crate) struct Inbound {
    /// QoS 2 messages taken and not released yet, sorted
    qos2: Vec<u16>,
    owed: VecDeque<Owed>,
    first_seq: u64,
    aliases: Vec<Bytes>,
}

impl Inbound {
    /// Are at least this many messages taken and not yet fully acknowledged?
    pub(crate) fn unsettled_at_least(&self, count: usize) -> bool {
        // a QoS 2 message may be in both; only near the bound is it worth looking closer
        self.qos2.len() + self.owed.len() >= count && {
            let pubacks = self.owed.iter().filter(|o| o.kind == PacketKind::PubAck);
            self.qos2.len() + pubacks.count() >= count
        }
    }

    /// The name the next owed acknowledgement will have.
    pub(crate) fn next_seq(&self) -> AckSeq {
        AckSeq(self.first_seq + self.owed.len() as u64)
    }

    pub(crate) fn owed_len(&self) -> usize {
        self.owed.len()
    }

    /// A new connection: aliases are forgotten, and so are owed PUBACKs, as the client sends
    /// those messages again. A QoS 2 message is held by its identifier and its PUBREC stays owed.
    pub(crate) fn restart(&mut self) {
        self.aliases = Vec::new();
        for owed in &mut self.owed {
            let keep = owed.kind == PacketKind::PubRec && owed.state == State::Waiting;
            owed.state = if keep { State::Waiting } else { State::Void };
        }
        self.trim();
    }

    /// Takes note of a QoS 2 identifier; `false` = it is known, the message came again.
    pub(crate) fn take_qos2(&mut self, packet_id: u16) -> bool {
        match self.qos2.binary_search(&packet_id) {
            Ok(_) => false,
            Err(at) => {
                self.qos2.insert(at, packet_id);
                true
            }
        }
    }

    pub(crate) fn knows_qos2(&self, packet_id: u16) -> bool {
        self.qos2.binary_search(&packet_id).is_ok()
    }

    /// PUBREL: the identifier is free again. `false` = it was not in use.
    pub(crate) fn release(&mut self, packet_id: u16) -> bool {
        let Ok(at) = self.qos2.binary_search(&packet_id) else {
            return false;
        };
        self.qos2.remove(at);
        if self.qos2.is_empty() {
            self.qos2 = Vec::new();
        }
        true
    }

    /// Is the PUBREC of this identifier still waiting for a commit?
    pub(crate) fn is_waiting(&self, packet_id: u16) -> bool {
        self.owed.iter().any(|o| {
            o.packet_id == packet_id && o.kind == PacketKind::PubRec && o.state == State::Waiting
        })
    }

    /// Acknowledges now, or after all that came before it.
    pub(crate) fn acknowledge(
        &mut self,
        kind: PacketKind,
        packet_id: u16,
        reason: ReasonCode,
        version: Version,
        out: &mut Vec<u8>,
    ) {
        if self.owed.is_empty() {
            ack::write(out, version, kind, packet_id, reason);
        } else {
            self.owed.push_back(Owed {
                packet_id,
                kind,
                reason,
                state: State::Ready,
            });
        }
    }

    /// Owes an acknowledgement until [`Inbound::commit`].
    pub(crate) fn owe(&mut self, kind: PacketKind, packet_id: u16) -> AckSeq {
        let seq = self.next_seq();
        let reason = ReasonCode::SUCCESS;
        self.owed.push_back(Owed {
            packet_id,
            kind,
            reason,
            state: State::Waiting,
        });
        seq
    }

    /// The message is committed: its acknowledgement and those it held up are written.
    pub(crate) fn commit(&mut self, seq: AckSeq, version: Version, out: &mut Vec<u8>) {
        if let Some(owed) = self.get(seq)
            && owed.state == State::Waiting
        {
            owed.state = State::Ready;
        }
        while let Some(front) = self.owed.front() {
            match front.state {
                State::Waiting => break,
                State::Void => {}
                State::Ready => {
                    ack::write(out, version, front.kind, front.packet_id, front.reason);
                }
            }
            self.pop();
        }
        self.trim();
    }

    /// The message will never be committed: it counts as not received. `false` = it is settled
    /// already, or its connection is gone.
    pub(crate) fn give_up(&mut self, seq: AckSeq) -> bool {
        let Some(owed) = self.get(seq).filter(|owed| owed.state == State::Waiting) else {
            return false;
        };
        owed.state = State::Void;
        if owed.kind == PacketKind::PubRec {
            let packet_id = owed.packet_id;
            self.release(packet_id);
        }
        self.trim();
        true
    }

    fn get(&mut self, seq: AckSeq) -> Option<&mut Owed> {
        let at = seq.0.checked_sub(self.first_seq)?;
        self.owed.get_mut(usize::try_from(at).ok()?)
    }

    fn pop(&mut self) {
        self.owed.pop_front();
        self.first_seq += 1;
    }

    fn trim(&mut self) {
        while self.owed.front().is_some_and(|o| o.state == State::Void) {
            self.pop();
        }
        if self.owed.is_empty() {
            self.owed = VecDeque::new();
        }
    }

    /// The topic behind an alias; a given topic is remembered under it.
    pub(crate) fn alias(&mut self, alias: u16, topic: &Bytes) -> Option<Bytes> {
        let at = usize::from(alias).checked_sub(1)?;
        if topic.is_empty() {
            return self
                .aliases
                .get(at)
                .filter(|known| !known.is_empty())
                .cloned();
        }
        if self.aliases.len() <= at {
            self.aliases.resize(at + 1, Bytes::new());
        }
        self.aliases[at] = Bytes::copy_from_slice(topic);
        Some(topic.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const V: Version = Version::V311;

    fn puback(id: u8) -> [u8; 4] {
        [0x40, 2, 0, id]
    }

    #[test]
    fn acknowledgements_keep_the_order_of_receipt() {
        let mut inbound = Inbound::default();
        let mut out = Vec::new();
        let first = inbound.owe(PacketKind::PubAck, 1);
        let second = inbound.owe(PacketKind::PubAck, 2);
        inbound.acknowledge(PacketKind::PubAck, 3, ReasonCode::SUCCESS, V, &mut out);
        inbound.commit(second, V, &mut out);
        assert!(out.is_empty());
        inbound.commit(first, V, &mut out);
        assert_eq!(out, [puback(1), puback(2), puback(3)].concat());
        inbound.acknowledge(PacketKind::PubAck, 4, ReasonCode::SUCCESS, V, &mut out);
        assert_eq!(out[12..], puback(4));
    }

    #[test]
    fn a_late_commit_does_not_reach_the_next_connection() {
        let mut inbound = Inbound::default();
        let mut out = Vec::new();
        let old = inbound.owe(PacketKind::PubAck, 1);
        inbound.restart();
        let new = inbound.owe(PacketKind::PubAck, 9);
        inbound.commit(old, V, &mut out);
        assert!(out.is_empty());
        inbound.commit(new, V, &mut out);
        assert_eq!(out, puback(9));
    }

    #[test]
    fn an_uncommitted_qos2_message_survives_a_reconnect() {
        let mut inbound = Inbound::default();
        let mut out = Vec::new();
        assert!(inbound.take_qos2(7));
        let seq = inbound.owe(PacketKind::PubRec, 7);
        inbound.restart();
        assert!(inbound.knows_qos2(7) && inbound.is_waiting(7));
        inbound.commit(seq, V, &mut out);
        assert_eq!(out, [0x50, 2, 0, 7]);
        assert!(inbound.release(7) && !inbound.release(7));
    }

    #[test]
    fn a_given_up_message_counts_as_not_received() {
        let mut inbound = Inbound::default();
        inbound.take_qos2(7);
        let seq = inbound.owe(PacketKind::PubRec, 7);
        assert!(inbound.give_up(seq) && !inbound.give_up(seq));
        assert!(!inbound.knows_qos2(7));
        assert_eq!(inbound.owed_len(), 0);
    }
}
