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

    /// The same in microseconds.
    pub fn now_us(&self) -> i64 {
        match self {
            Clock::Real => {
                let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
                since.as_micros() as i64
            }
            Clock::Manual(_) => self.now_ms().saturating_mul(1000),
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

/// Measures the time that this thread works; where the system does not tell, the time that passes.
/// It must be asked on the thread that started it.
pub struct CpuWatch {
    #[cfg(unix)]
    start_ns: u64,
    #[cfg(not(unix))]
    start: std::time::Instant,
}

#[cfg(unix)]
impl CpuWatch {
    pub fn start() -> Self {
        CpuWatch { start_ns: thread_ns() }
    }

    pub fn elapsed_ns(&self) -> u64 {
        thread_ns().saturating_sub(self.start_ns)
    }
}

#[cfg(unix)]
fn thread_ns() -> u64 {
    let t = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    (t.tv_sec as u64).saturating_mul(1_000_000_000).saturating_add(t.tv_nsec as u64)
}

#[cfg(not(unix))]
impl CpuWatch {
    pub fn start() -> Self {
        CpuWatch { start: std::time::Instant::now() }
    }

    pub fn elapsed_ns(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
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

    #[test]
    fn work_takes_cpu_time() {
        let watch = CpuWatch::start();
        let mut sum = 0u64;
        for i in 0..1_000_000u64 {
            sum = std::hint::black_box(sum ^ i.wrapping_mul(31));
        }
        assert!(watch.elapsed_ns() > 0, "{sum}");
    }

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
