//! Warm-up: probes are sent until one comes out of the sink, so the subscription is provably live.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use mqttgen::workload::PROBE_DEVICES;

use crate::engine::Engine;
use crate::generator::Generator;
use crate::spec::Window;

/// An engine is called deaf after so long, and not before four rounds of probes.
const DEAF_AFTER: Duration = Duration::from_secs(20);
const ROUNDS_MIN: u32 = 4;
const POLL: Duration = Duration::from_millis(10);

/// Sends rounds of probes, each enough to fill a 4 KiB file buffer, and waits for the file.
pub fn run(
    generator: &mut Generator,
    engine: &mut dyn Engine,
    window: Window,
    sinks: &[PathBuf],
) -> Result<(), String> {
    let wait = Duration::from_millis(window.longest_ms() + 1_200);
    let until = Instant::now() + DEAF_AFTER.max(wait * ROUNDS_MIN);
    while Instant::now() < until {
        generator.tell(&format!("probe {PROBE_DEVICES}"))?;
        let deadline = Instant::now() + wait;
        while Instant::now() < deadline {
            engine.check()?;
            if sinks.iter().all(|sink| size(sink) > 0) {
                return settle(sinks);
            }
            std::thread::sleep(POLL);
        }
    }
    Err(format!(
        "no probe came out of the sink within {:?}, in rounds of {PROBE_DEVICES}; status: {}",
        DEAF_AFTER.max(wait * ROUNDS_MIN),
        engine.status()
    ))
}

/// Waits until the probes have passed.
fn settle(sinks: &[PathBuf]) -> Result<(), String> {
    let (mut last, mut since) = (total(sinks), Instant::now());
    while since.elapsed() < Duration::from_millis(300) {
        std::thread::sleep(POLL);
        let now = total(sinks);
        if now != last {
            (last, since) = (now, Instant::now());
        }
    }
    Ok(())
}

pub fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |m| m.len())
}

/// Bytes in all sinks together.
pub fn total(sinks: &[PathBuf]) -> u64 {
    sinks.iter().map(|sink| size(sink)).sum()
}
