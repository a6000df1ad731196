//! A ring of ready PUBLISH packets. Going round it costs only the patching of the counters
//! (20 bytes a message); the bytes are then written to the socket as they lie.

use crate::digits::Counter;
use crate::mqtt;
use crate::workload::{ID_BASE, Workload, gcd};

pub struct Ring {
    bytes: Vec<u8>,
    /// Where each packet starts, plus the end of the last.
    starts: Vec<usize>,
    /// Where the ten digits stand, counted from the packet start; the same count for all.
    counters: Vec<[u32; 2]>,
    counter: Counter,
    stride: usize,
    next: usize,
}

impl Ring {
    /// Packets for the indices `first`, `first + stride`, … of a workload.
    pub fn new(workload: Workload, level: u8, first: u64, stride: u64) -> Ring {
        let period = workload.period();
        let slots = period / gcd(period, stride % period);
        let mut ring = Ring {
            bytes: Vec::new(),
            starts: vec![0],
            counters: Vec::new(),
            counter: Counter::new(ID_BASE + first),
            stride: stride as usize,
            next: 0,
        };
        for k in 0..slots {
            let message = workload.message(first + k * stride);
            let start = ring.bytes.len();
            let payload = &message.payload;
            let at = mqtt::push_publish(&mut ring.bytes, level, &message.topic, payload) - start;
            if let [id, ts] = message.counters[..] {
                ring.counters.push([(at + id) as u32, (at + ts) as u32]);
            }
            ring.starts.push(ring.bytes.len());
        }
        ring
    }

    /// The next packets, at most `messages` of them, in at most `bytes` bytes (but at least one
    /// packet), and how many they are. Ends early at the end of the ring.
    pub fn next(&mut self, messages: u64, bytes: usize) -> (&[u8], u64) {
        let slots = self.starts.len() - 1;
        if self.next == slots {
            self.next = 0;
        }
        let (from, start) = (self.next, self.starts[self.next]);
        let limit = (slots - from).min(usize::try_from(messages).unwrap_or(usize::MAX));
        let mut until = from;
        while until - from < limit && (until == from || self.starts[until + 1] - start <= bytes) {
            until += 1;
        }
        self.patch(from, until);
        self.next = until;
        (
            &self.bytes[start..self.starts[until]],
            (until - from) as u64,
        )
    }

    fn patch(&mut self, from: usize, until: usize) {
        if self.counters.is_empty() {
            return;
        }
        for slot in from..until {
            let start = self.starts[slot];
            for at in self.counters[slot] {
                let at = start + at as usize;
                self.bytes[at..at + 10].copy_from_slice(self.counter.text());
            }
            self.counter.add(self.stride);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn payloads(workload: Workload, first: u64, stride: u64, count: u64) -> Vec<Vec<u8>> {
        let mut ring = Ring::new(workload, 4, first, stride);
        let (mut out, mut left) = (Vec::new(), count);
        while left > 0 {
            let (mut bytes, sent) = ring.next(left, 5_000);
            left -= sent;
            while let Some(packet) = mqtt::read_packet(&mut bytes).unwrap() {
                let topic = usize::from(u16::from_be_bytes([packet.body[0], packet.body[1]]));
                out.push(packet.body[2 + topic..].to_vec());
            }
        }
        out
    }

    #[test]
    fn the_ring_sends_what_the_workload_says_beyond_its_period() {
        for (workload, first, stride) in [
            (Workload::W1, 0, 1),
            (Workload::W2, 5, 8),
            (Workload::W5, 3, 8),
        ] {
            let sent = payloads(workload, first, stride, 7_000);
            assert_eq!(sent.len(), 7_000);
            for (k, payload) in sent.iter().enumerate() {
                let expected = workload.message(first + k as u64 * stride).payload;
                assert_eq!(payload, &expected, "{} message {k}", workload.id());
            }
        }
    }
}
