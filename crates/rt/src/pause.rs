//! Short waits, finer than the millisecond steps of the runtime's timers where the system has them.
//!
//! A wait of the runtime's own lasts up to a millisecond longer than asked, and costs it a call to
//! wake itself up; a timer of the system does neither.

use std::time::Duration;

use tokio::time::Instant;

/// A timer for one task, to be used again and again.
pub struct Pause {
    #[cfg(target_os = "linux")]
    timer: Option<fine::Timer>,
}

impl Pause {
    /// Must be called inside the runtime.
    pub fn new() -> Self {
        Pause {
            // without one (no file descriptors left) the runtime's timers do
            #[cfg(target_os = "linux")]
            timer: fine::Timer::new().ok(),
        }
    }

    /// Waits that long.
    pub async fn wait(&mut self, how_long: Duration) {
        let until = Instant::now() + how_long;
        #[cfg(target_os = "linux")]
        if let Some(timer) = &self.timer
            && timer.wait_until(until, how_long).await.is_ok()
        {
            return;
        }
        tokio::time::sleep_until(until).await;
    }
}

impl Default for Pause {
    fn default() -> Self {
        Pause::new()
    }
}

#[cfg(target_os = "linux")]
mod fine {
    use std::os::fd::OwnedFd;
    use std::time::Duration;

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };
    use tokio::io::Interest;
    use tokio::io::unix::AsyncFd;
    use tokio::time::Instant;

    pub struct Timer(AsyncFd<OwnedFd>);

    impl Timer {
        pub fn new() -> std::io::Result<Self> {
            let flags = TimerfdFlags::NONBLOCK | TimerfdFlags::CLOEXEC;
            let fd = timerfd_create(TimerfdClockId::Monotonic, flags)?;
            #[expect(deprecated, reason = "an owned descriptor is the same until it is dropped; \
                the successor leaves that promise to the caller, as unsafe code")]
            Ok(Timer(AsyncFd::with_interest(fd, Interest::READABLE)?))
        }

        pub async fn wait_until(&self, until: Instant, wait: Duration) -> std::io::Result<()> {
            let zero = Timespec { tv_sec: 0, tv_nsec: 0 };
            let wait = Timespec {
                tv_sec: wait.as_secs() as i64,
                // zero would stop the timer
                tv_nsec: i64::from(wait.subsec_nanos()).max(1),
            };
            let once = Itimerspec { it_interval: zero, it_value: wait };
            timerfd_settime(self.0.get_ref(), TimerfdTimerFlags::empty(), &once)?;
            loop {
                // the news of an earlier wait that was given up may still be there
                self.0.readable().await?.clear_ready();
                if Instant::now() >= until {
                    return Ok(());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn waits_as_long_as_asked_also_after_a_wait_that_was_given_up() {
        let mut pause = Pause::new();
        for us in [0, 1, 300, 1_500] {
            let (began, asked) = (Instant::now(), Duration::from_micros(us));
            pause.wait(asked).await;
            assert!(began.elapsed() >= asked);
            tokio::select! {
                biased;
                () = pause.wait(asked) => {}
                () = async {} => {} // at once: the wait is given up, its timer runs on
            }
        }
    }
}
