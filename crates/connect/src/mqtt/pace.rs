//! When to read again: at once, or after a wait that lets messages gather.
//!
//! To be woken costs as much as the work for a hundred messages, so a connection that is busy is
//! read by the clock instead of whenever something arrives; one that is not is read at once.

use std::time::Duration;

use rekuiper_rt::limits::{
    READ_BUSY_MESSAGES_PER_MS, READ_FULL_BYTES, READ_GATHER_BYTES, READ_LINGER_BUSY_US, READ_LINGER_US,
};
use tokio::time::Instant;

const LINGER: Duration = Duration::from_micros(READ_LINGER_US);

/// What came in with a read.
#[derive(Clone, Copy, Debug, Default)]
pub struct Came {
    pub messages: usize,
    pub bytes: usize,
    /// Some message wants an acknowledgement: the broker may hold back what comes next until then.
    pub acked: bool,
}

/// What comes before the next read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// The connection is full of data: nothing.
    Read,
    /// An acknowledgement, so that the broker does not hold back what it has.
    Acknowledge,
    /// This wait, then the acknowledgement.
    Linger(Duration),
}

/// See the module's doc.
pub struct Pace {
    read_at: Instant,
    read_before: Instant,
}

impl Pace {
    pub fn new(now: Instant) -> Self {
        Pace { read_at: now, read_before: now }
    }

    /// Data came.
    pub fn reads(&mut self, now: Instant) {
        self.read_before = std::mem::replace(&mut self.read_at, now);
    }

    /// What to do after this read.
    pub fn next(&self, came: Came) -> Next {
        if came.bytes >= READ_FULL_BYTES {
            return Next::Read;
        }
        let took = self.read_at.saturating_duration_since(self.read_before);
        let (took_us, messages) = ((took.as_micros() as u64).max(1), came.messages as u64);
        // less than one message would come in the meantime, or none while it is owed for these
        if messages * READ_LINGER_US < took_us || came.acked {
            return Next::Acknowledge;
        }
        if messages * 1_000 < READ_BUSY_MESSAGES_PER_MS * took_us {
            return Next::Linger(LINGER);
        }
        let gathers_us = READ_GATHER_BYTES as u64 * took_us / (came.bytes as u64).max(1);
        let (least, most) = READ_LINGER_BUSY_US.into_inner();
        Next::Linger(Duration::from_micros(gathers_us.clamp(least, most)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What follows a read that brought this, `took_us` after the read before.
    fn next(messages: usize, bytes: usize, took_us: u64) -> Next {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        pace.reads(start + Duration::from_micros(took_us));
        pace.next(Came { messages, bytes, acked: false })
    }

    #[test]
    fn waits_only_where_more_will_come() {
        let light = Next::Linger(LINGER);
        assert_eq!(next(1, 170, 10_000), Next::Acknowledge, "100 a second");
        assert_eq!(next(20, 3_400, 900_000), Next::Acknowledge, "20 at once each second");
        assert_eq!(next(13, 2_200, 1_300), light, "10,000 a second");
        assert_eq!(next(0, 4, 1_300), Next::Acknowledge, "a ping's answer alone");
    }

    #[test]
    fn waits_longer_the_longer_it_takes_until_there_is_enough() {
        let busy = |us| Next::Linger(Duration::from_micros(us));
        assert_eq!(next(130, 7_800, 2_600), busy(16_000), "50,000 a second of 60 bytes");
        assert_eq!(next(260, 46_800, 5_000), busy(14_003), "52,000 a second of 180 bytes");
        assert_eq!(next(1_000, 180_000, 1_000), busy(4_000), "a million a second");
        assert_eq!(next(130, 22_000, 0), busy(4_000), "no time between two reads");
        assert_eq!(next(1_500, 256_000, 400), Next::Read, "as fast as it goes");
    }

    #[test]
    fn does_not_make_a_broker_wait_that_counts_what_is_unacknowledged() {
        let now = Instant::now();
        let came = Came { messages: 20, bytes: 3_400, acked: true };
        assert_eq!(Pace::new(now).next(came), Next::Acknowledge);
    }
}
