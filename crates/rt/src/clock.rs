//! Time: real, or turned by hand.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::watch;

/// A source of "now" in Unix milliseconds, and of waiting.
#[derive(Clone)]
pub enum Clock {
    Real,
    Manual(Arc<ManualClock>),
}

impl Clock {
    /// A clock that stands at `now_ms` until it is advanced.
    pub fn manual(now_ms: i64) -> (Clock, Arc<ManualClock>) {
        let clock = Arc::new(ManualClock { now: watch::channel(now_ms).0 });
        (Clock::Manual(clock.clone()), clock)
    }

    pub fn now_ms(&self) -> i64 {
        match self {
            Clock::Real => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                since.as_millis() as i64
            }
            Clock::Manual(clock) => *clock.now.borrow(),
        }
    }

    /// Waits until `at_ms`; at once when that has passed.
    pub async fn sleep_until(&self, at_ms: i64) {
        match self {
            Clock::Real => {
                let wait = at_ms.saturating_sub(self.now_ms());
                if wait > 0 {
                    tokio::time::sleep(Duration::from_millis(wait as u64)).await;
                }
            }
            Clock::Manual(clock) => {
                let mut seen = clock.now.subscribe();
                // the sender lives in the clock itself, so waiting cannot fail
                let _ = seen.wait_for(|now| *now >= at_ms).await;
            }
        }
    }

    pub async fn sleep_ms(&self, ms: i64) {
        self.sleep_until(self.now_ms().saturating_add(ms)).await;
    }
}

/// The hand-turned clock.
pub struct ManualClock {
    now: watch::Sender<i64>,
}

impl ManualClock {
    pub fn set(&self, now_ms: i64) {
        self.now.send_replace(now_ms);
    }

    pub fn advance(&self, ms: i64) {
        self.now.send_modify(|now| *now += ms);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_hand_turned_clock_wakes_sleepers() {
        let (clock, hand) = Clock::manual(1_000);
        let sleeper = tokio::spawn({
            let clock = clock.clone();
            async move { clock.sleep_ms(500).await }
        });
        tokio::task::yield_now().await; // it now sleeps
        hand.advance(499);
        tokio::task::yield_now().await;
        assert!(!sleeper.is_finished());
        hand.advance(1);
        sleeper.await.unwrap();
        assert_eq!(clock.now_ms(), 1_500);
    }
}
