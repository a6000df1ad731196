//! When to read again: at once, or after a wait that lets messages gather.
//!
//! To be woken costs as much as the work for a hundred messages, so a connection that is busy is
//! read by the clock instead of whenever something arrives; one that is not is read at once.

use std::time::Duration;

use rekuiper_rt::limits::{
    READ_BUSY_MESSAGES_PER_MS, READ_FULL_BYTES, READ_GATHER_BYTES, READ_LINGER_BUSY_US,
    READ_LINGER_US, READ_RATE_US,
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
    /// Averages over the last [`READ_RATE_US`].
    messages_per_us: f64,
    bytes_per_us: f64,
}

impl Pace {
    pub fn new(now: Instant) -> Self {
        Pace { read_at: now, messages_per_us: 0.0, bytes_per_us: 0.0 }
    }

    /// What to do after a read that brought this.
    pub fn next(&mut self, came: Came, now: Instant) -> Next {
        let took_us = now.saturating_duration_since(self.read_at).as_secs_f64() * 1e6;
        self.read_at = now;
        let (span, kept) = (took_us + READ_RATE_US as f64, READ_RATE_US as f64);
        self.messages_per_us = (self.messages_per_us * kept + came.messages as f64) / span;
        self.bytes_per_us = (self.bytes_per_us * kept + came.bytes as f64) / span;

        if came.bytes >= READ_FULL_BYTES {
            return Next::Read;
        }
        // less than one message would come in the meantime, or none while it is owed for these
        let alone = self.messages_per_us * (READ_LINGER_US as f64) < 1.0;
        if came.messages == 0 || came.acked || alone {
            return Next::Acknowledge;
        }
        if self.messages_per_us * 1_000.0 < READ_BUSY_MESSAGES_PER_MS as f64 {
            return Next::Linger(LINGER);
        }
        let (least, most) = READ_LINGER_BUSY_US.into_inner();
        let gathers_us = (READ_GATHER_BYTES as f64 / self.bytes_per_us) as u64;
        Next::Linger(Duration::from_micros(gathers_us.clamp(least, most)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What follows the last of so many reads that each brought this, `took_us` after another.
    fn after(reads: usize, messages: usize, bytes: usize, took_us: u64) -> Next {
        let mut now = Instant::now();
        let (mut pace, mut next) = (Pace::new(now), Next::Read);
        for _ in 0..reads {
            now += Duration::from_micros(took_us);
            next = pace.next(Came { messages, bytes, acked: false }, now);
        }
        next
    }

    #[test]
    fn waits_only_where_more_will_come() {
        let light = Next::Linger(LINGER);
        assert_eq!(after(100, 1, 170, 10_000), Next::Acknowledge, "100 a second");
        assert_eq!(after(9, 20, 3_400, 900_000), Next::Acknowledge, "20 at once each second");
        assert_eq!(after(3, 13, 2_200, 1_300), Next::Acknowledge, "10,000 a second, 4 ms of it");
        assert_eq!(after(200, 13, 2_200, 1_300), light, "10,000 a second");
        assert_eq!(after(200, 0, 4, 1_300), Next::Acknowledge, "a ping's answer alone");
    }

    #[test]
    fn waits_longer_the_longer_it_takes_until_there_is_enough() {
        let us = |next| match next {
            Next::Linger(wait) => wait.as_micros(),
            other => panic!("{other:?}"),
        };
        assert_eq!(us(after(500, 130, 7_800, 2_600)), 16_000, "50,000 a second of 60 bytes");
        let (least, most) = (14_000, 14_100);
        let some = us(after(500, 260, 46_800, 5_000));
        assert!((least..=most).contains(&some), "52,000 a second of 180 bytes: {some}");
        assert_eq!(us(after(500, 1_000, 180_000, 1_000)), 4_000, "a million a second");
        assert_eq!(after(500, 1_500, 256_000, 400), Next::Read, "as fast as it goes");
    }

    #[test]
    fn a_burst_does_not_make_a_connection_a_busy_one() {
        let mut now = Instant::now();
        let mut pace = Pace::new(now);
        let mut next = |messages, took_us| {
            now += Duration::from_micros(took_us);
            pace.next(Came { messages, bytes: 170 * messages, acked: false }, now)
        };
        for _ in 0..200 {
            next(13, 1_300);
        }
        assert_eq!(next(100, 10_000), Next::Linger(LINGER), "the broker stood still for 10 ms");
        assert_eq!(next(100, 0), Next::Linger(LINGER), "and had more");
    }

    #[test]
    fn does_not_make_a_broker_wait_that_counts_what_is_unacknowledged() {
        let mut now = Instant::now();
        let mut pace = Pace::new(now);
        for _ in 0..200 {
            now += Duration::from_micros(1_000);
            let came = Came { messages: 20, bytes: 3_400, acked: true };
            assert_eq!(pace.next(came, now), Next::Acknowledge);
        }
    }
}
