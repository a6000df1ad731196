//! Warm-up: probes are sent until one comes out of the sink, so the subscription is provably live.

use std::path::Path;
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
    sink: &Path,
) -> Result<(), String> {
    let wait = Duration::from_millis(window.longest_ms() + 1_200);
    let until = Instant::now() + DEAF_AFTER.max(wait * ROUNDS_MIN);
    while Instant::now() < until {
        generator.tell(&format!("probe {PROBE_DEVICES}"))?;
        let deadline = Instant::now() + wait;
        while Instant::now() < deadline {
            engine.check()?;
            if size(sink) > 0 {
                return settle(sink);
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
fn settle(sink: &Path) -> Result<(), String> {
    let (mut last, mut since) = (size(sink), Instant::now());
    while since.elapsed() < Duration::from_millis(300) {
        std::thread::sleep(POLL);
        let now = size(sink);
        if now != last {
            (last, since) = (now, Instant::now());
        }
    }
    Ok(())
}

pub fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |m| m.len())
}
