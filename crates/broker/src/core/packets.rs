//! Bytes of a client, packet by packet, and bytes for it.

use bytes::Bytes;
use rekuiper_mqtt_codec::{Disconnect, Packet, PacketKind, ReasonCode, Version, ack, frame};

use super::publish::{Taken, Turn};
use super::{Core, Goodbye};
use crate::limits::REPLY_BYTES_MAX;
use crate::message::SubscriberId;
use crate::session::Session;

/// How far the bytes were understood.
pub(crate) struct Progress {
    pub(crate) used: usize,
    pub(crate) next: Next,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// The rest is less than a packet
    Read,
    /// The rest must wait; the door is knocked at when it may be tried again
    Wait,
    /// The answers must be sent first
    Write,
    /// The connection ends; a reason is for the client to hear
    Close(Option<ReasonCode>, Goodbye),
}

impl Progress {
    pub(crate) fn next_is_open(&self) -> bool {
        !matches!(self.next, Next::Close(..))
    }
}

impl Core {
    /// Handles complete packets at the head of `chunk`; answers are appended to `out`.
    pub(crate) fn on_bytes(
        &mut self,
        id: SubscriberId,
        epoch: u64,
        chunk: &Bytes,
        now: u64,
        out: &mut Vec<u8>,
    ) -> Progress {
        let Some(session) = self.current(id, epoch) else {
            return Progress {
                used: 0,
                next: Next::Close(None, Goodbye::Abrupt),
            };
        };
        let version = session.version;
        if let Some(connection) = &mut session.connection {
            connection.last_heard = now;
        }
        if let Some(slot) = self.slot(id) {
            slot.stalled = false;
        }
        let max = self.config.limits.packet_bytes_max;
        let turn = Turn { id, version, now };
        let mut used = 0;
        let next = loop {
            if out.len() >= REPLY_BYTES_MAX {
                break Next::Write;
            }
            let frame = match frame::scan_limited(&chunk[used..], max) {
                Ok(Some(frame)) => frame,
                Ok(None) => break Next::Read,
                Err(error) => break self.fault(error.reason()),
            };
            let body = used + frame.body.start..used + frame.body.end;
            if frame.kind == PacketKind::Publish {
                match self.on_publish(turn, frame.flags, chunk, body, out) {
                    Ok(Taken::Yes) => {}
                    Ok(Taken::NotYet) => break Next::Wait,
                    Err(reason) => break self.fault(reason),
                }
            } else {
                let packet = Packet::from_frame(version, &frame, &chunk[body]);
                let done = match packet {
                    Ok(packet) => self.on_packet(id, version, packet, now, out),
                    Err(error) => Err(self.fault(error.reason())),
                };
                if let Err(next) = done {
                    break next;
                }
            }
            used += frame.total_len;
        };
        self.stats.bytes_received += used as u64;
        Progress { used, next }
    }

    fn fault(&mut self, reason: ReasonCode) -> Next {
        self.stats.connections_refused += 1;
        Next::Close(Some(reason), Goodbye::Abrupt)
    }

    fn on_packet(
        &mut self,
        id: SubscriberId,
        version: Version,
        packet: Packet,
        now: u64,
        out: &mut Vec<u8>,
    ) -> Result<(), Next> {
        let Some(session) = self.session(id) else {
            return Err(Next::Close(None, Goodbye::Abrupt));
        };
        match packet {
            Packet::PubAck(ack) => {
                session.outbound.on_puback(ack.packet_id);
            }
            Packet::PubRec(ack) => {
                let refused = ack.reason.is_error();
                session
                    .outbound
                    .on_pubrec(ack.packet_id, refused, version, out);
            }
            Packet::PubRel(ack) => {
                let reason = match session.inbound.release(ack.packet_id) {
                    true => ReasonCode::SUCCESS,
                    false => ReasonCode::PACKET_ID_NOT_FOUND,
                };
                ack::write(out, version, PacketKind::PubComp, ack.packet_id, reason);
            }
            Packet::PubComp(ack) => {
                session.outbound.on_pubcomp(ack.packet_id);
            }
            Packet::Subscribe(packet) => {
                let done = self.on_subscribe(id, version, packet, now, out);
                return done.map_err(|reason| self.fault(reason));
            }
            Packet::Unsubscribe(packet) => {
                let done = self.on_unsubscribe(id, version, packet, out);
                return done.map_err(|reason| self.fault(reason));
            }
            Packet::PingReq => out.extend_from_slice(&[0xD0, 0]),
            Packet::Disconnect(packet) => {
                let goodbye = disconnect(session, &packet);
                return Err(match goodbye {
                    Ok(how) => Next::Close(None, how),
                    Err(reason) => self.fault(reason),
                });
            }
            // a second CONNECT, an AUTH nobody asked for, or a packet only servers send
            _ => return Err(self.fault(ReasonCode::PROTOCOL_ERROR)),
        }
        Ok(())
    }

    /// Appends what is to be sent to the client now; `true` = there is more.
    pub(crate) fn fill(
        &mut self,
        id: SubscriberId,
        epoch: u64,
        now: u64,
        budget: usize,
        out: &mut Vec<u8>,
    ) -> bool {
        let Some(session) = self.current(id, epoch) else {
            return false;
        };
        out.append(&mut session.control);
        let version = session.version;
        let Some(terms) = session.connection.as_ref().map(|c| c.terms) else {
            return false;
        };
        let filled = session.outbound.fill(version, &terms, now, budget, out);
        self.stats.messages_sent += filled.sent;
        self.stats.dropped_expired += filled.expired;
        self.stats.dropped_too_large += filled.too_large;
        if let Some(slot) = self.slot(id) {
            slot.knocked = false;
        }
        filled.more
    }
}

fn disconnect(session: &mut Session, packet: &Disconnect) -> Result<Goodbye, ReasonCode> {
    if let Some(&asked) = packet.properties.session_expiry() {
        if session.expiry_s == 0 && asked > 0 {
            return Err(ReasonCode::PROTOCOL_ERROR);
        }
        // it may shorten what was granted, not go beyond it
        session.expiry_s = asked.min(session.expiry_s);
    }
    match packet.reason {
        ReasonCode::SUCCESS => Ok(Goodbye::Proper),
        _ => Ok(Goodbye::Abrupt),
    }
}
