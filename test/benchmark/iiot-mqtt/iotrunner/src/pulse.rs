//! How fast the engine's core is at the moment: W1 in memory by the bare program's own code,
//! without socket and file, for some hundredths of a second before and after each step.
//!
//! On a rented machine the other hardware thread of a core may be somebody else's: the same work
//! then takes up to 1.8 times as long, for seconds or minutes. Figures of two steps compare where
//! their pulses do.

use std::io;
use std::time::Instant;

use mqttgen::ring::Ring;
use mqttgen::workload::Workload;
use rustix::thread::{CpuSet, sched_setaffinity};

use crate::{bare, sample};

const MESSAGES: u64 = 512;
const ROUNDS: u32 = 40;
/// The middle one counts.
const SLICES: usize = 9;

/// Nanoseconds a message takes on that core now.
pub fn take(core: Option<usize>) -> io::Result<f64> {
    let measured = std::thread::spawn(move || {
        if let Some(core) = core {
            let mut one = CpuSet::new();
            one.set(core);
            sched_setaffinity(None, &one)?;
        }
        let mut ring = Ring::new(Workload::W1, 4, 0, 1);
        let (packets, count) = ring.next(MESSAGES, usize::MAX);
        let mut program = bare::in_memory()?;
        let mut slices = Vec::new();
        for _ in 0..SLICES {
            let start = Instant::now();
            for _ in 0..ROUNDS {
                program(packets)?;
            }
            let messages = u64::from(ROUNDS) * count.max(1);
            slices.push(start.elapsed().as_nanos() as f64 / messages as f64);
        }
        Ok(sample::middle(slices))
    });
    let panicked = |_| Err(io::Error::other("the thread that takes the pulse ended by a panic"));
    measured.join().unwrap_or_else(panicked)
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_message_takes_some_time() {
        let ns = super::take(None).unwrap();
        assert!((1.0..1e6).contains(&ns), "{ns}");
    }
}
