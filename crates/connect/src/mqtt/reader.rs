//! The read side: bytes of a socket into batches of messages, without copying payloads.
//!
//! A buffer of [`READ_BUFFER_BYTES`] is filled by reads; the complete packets in it become messages
//! that point into it, and the whole buffer is frozen and handed over with them. What is left of an
//! incomplete packet moves to the next buffer. Buffers come back when the batch is dropped.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use rekuiper_mqtt_codec::{CodecError, Frame, PacketKind, Version, frame, publish};
use rekuiper_rt::limits::{BATCH_MESSAGES_MAX, PACKET_BYTES_MAX, READ_BUFFER_BYTES};
use rekuiper_value::batch::{Msg, MsgMeta};

/// Buffers kept for reuse: one being filled, two on their way, one to spare.
const SPARE_BUFFERS_MAX: usize = 4;

/// Buffers that wait to be filled again.
#[derive(Clone, Default)]
struct Pool(Arc<Mutex<Vec<Vec<u8>>>>);

impl Pool {
    fn take(&self, at_least: usize) -> Vec<u8> {
        let spare = self.0.lock().unwrap_or_else(|e| e.into_inner()).pop();
        let mut buf = spare.unwrap_or_default();
        buf.clear();
        buf.reserve_exact(at_least.max(READ_BUFFER_BYTES));
        buf
    }

    fn give(&self, buf: Vec<u8>) {
        let mut spare = self.0.lock().unwrap_or_else(|e| e.into_inner());
        if spare.len() < SPARE_BUFFERS_MAX && buf.capacity() <= 2 * READ_BUFFER_BYTES {
            spare.push(buf);
        }
    }
}

/// A frozen buffer; goes back to the pool with the last `Bytes` over it.
struct Lent {
    buf: Vec<u8>,
    pool: Pool,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.buf
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.pool.give(std::mem::take(&mut self.buf));
    }
}

/// Messages that point into `bytes`.
pub struct Taken {
    pub bytes: Bytes,
    pub msgs: Vec<Msg>,
    /// Whether some message wants an acknowledgement.
    pub acked: bool,
}

/// See the module's doc.
pub struct Reader {
    version: Version,
    pool: Pool,
    pub buf: Vec<u8>,
    /// Up to where packets were taken.
    parsed: usize,
    msgs: Vec<Msg>,
    acked: bool,
}

impl Reader {
    pub fn new(version: Version) -> Self {
        Reader {
            version,
            pool: Pool::default(),
            buf: Vec::new(),
            parsed: 0,
            msgs: Vec::new(),
            acked: false,
        }
    }

    /// Forgets what is left of a connection that ended.
    pub fn reset(&mut self) {
        self.buf.clear();
        self.parsed = 0;
        self.msgs.clear();
        self.acked = false;
    }

    /// Makes room for the next read.
    pub fn make_room(&mut self) {
        if self.buf.capacity() == 0 {
            self.buf = self.pool.take(READ_BUFFER_BYTES);
        }
        if self.buf.capacity() - self.buf.len() < READ_BUFFER_BYTES / 8 {
            let needed = frame::needed(&self.buf[self.parsed..]).unwrap_or(0);
            let more = needed.saturating_sub(self.buf.len() - self.parsed).max(READ_BUFFER_BYTES);
            self.buf.reserve(more);
        }
    }

    /// Takes complete packets: publishes become messages, everything else goes to `other`. Stops
    /// early when a batch is full (call again after [`take`](Self::take)). Returns whether it
    /// stopped early.
    pub fn parse(
        &mut self,
        mut other: impl FnMut(&Frame, &[u8]) -> Result<(), CodecError>,
    ) -> Result<bool, CodecError> {
        loop {
            if self.msgs.len() >= BATCH_MESSAGES_MAX {
                return Ok(true);
            }
            let rest = &self.buf[self.parsed..];
            let Some(frame) = frame::scan_limited(rest, PACKET_BYTES_MAX)? else {
                return Ok(false);
            };
            let body = &rest[frame.body.clone()];
            if frame.kind == PacketKind::Publish {
                let view = publish::view(self.version, frame.flags, body)?;
                let at = self.parsed + frame.body.start;
                let range = |r: &std::ops::Range<usize>| ((at + r.start) as u32, r.len() as u32);
                let packet_id = view.packet_id.unwrap_or(0);
                self.acked |= packet_id != 0;
                let extra = match view.properties.is_empty() {
                    true => None,
                    false => super::source::properties(&body[view.properties.clone()]),
                };
                self.msgs.push(Msg {
                    payload: range(&view.payload),
                    meta: MsgMeta {
                        topic: range(&view.topic),
                        packet_id,
                        qos: view.qos as u8,
                        extra,
                    },
                });
            } else {
                other(&frame, body)?;
            }
            self.parsed += frame.total_len;
        }
    }

    pub fn has_messages(&self) -> bool {
        !self.msgs.is_empty()
    }

    /// The messages taken so far with the buffer they point into; the rest of the buffer moves to a
    /// new one.
    pub fn take(&mut self) -> Taken {
        let tail = &self.buf[self.parsed..];
        let mut next = self.pool.take(tail.len());
        next.extend_from_slice(tail);
        let full = std::mem::replace(&mut self.buf, next);
        self.parsed = 0;
        let capacity = self.msgs.len();
        Taken {
            bytes: Bytes::from_owner(Lent { buf: full, pool: self.pool.clone() }),
            msgs: std::mem::replace(&mut self.msgs, Vec::with_capacity(capacity)),
            acked: std::mem::take(&mut self.acked),
        }
    }

    /// Compacts when everything was parsed and nothing waits to be taken.
    pub fn settle(&mut self) {
        if self.msgs.is_empty() && self.parsed > 0 {
            self.buf.drain(..self.parsed);
            self.parsed = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn publish(topic: &str, payload: &str) -> Vec<u8> {
        let mut out = Vec::new();
        let packet = rekuiper_mqtt_codec::Packet::Publish(rekuiper_mqtt_codec::Publish {
            topic: topic.into(),
            packet_id: None,
            qos: rekuiper_mqtt_codec::QoS::AtMostOnce,
            dup: false,
            retain: false,
            properties: Default::default(),
            payload: Bytes::copy_from_slice(payload.as_bytes()),
        });
        packet.encode(Version::V311, &mut out).unwrap();
        out
    }

    #[test]
    fn messages_come_out_whole_however_the_bytes_are_cut() {
        let mut wire = Vec::new();
        for i in 0..3000 {
            wire.extend(publish("a/b", &format!("payload {i}")));
        }
        for cut in [1, 7, 100, 5000, wire.len()] {
            let mut reader = Reader::new(Version::V311);
            let mut seen = Vec::new();
            for piece in wire.chunks(cut) {
                reader.make_room();
                reader.buf.extend_from_slice(piece);
                loop {
                    let more = reader.parse(|_, _| Ok(())).unwrap();
                    if reader.has_messages() {
                        let taken = reader.take();
                        assert!(taken.msgs.len() <= BATCH_MESSAGES_MAX);
                        for m in &taken.msgs {
                            let (at, len) = (m.payload.0 as usize, m.payload.1 as usize);
                            seen.push(taken.bytes[at..at + len].to_vec());
                        }
                    }
                    if !more {
                        break;
                    }
                }
            }
            assert_eq!(seen.len(), 3000, "cut {cut}");
            assert_eq!(seen[2999], b"payload 2999");
        }
    }
}
