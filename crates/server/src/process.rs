//! What this process uses of the machine, from `/proc`.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

/// Clock ticks a second of `/proc/self/stat`; fixed on Linux.
const TICKS: f64 = 100.0;

#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Reading {
    /// Of one core, since the reading before.
    pub cpu_percent: f64,
    /// Bytes.
    pub memory_used: u64,
    pub memory_total: u64,
}

pub struct Process {
    last: Mutex<(Instant, f64)>,
}

impl Default for Process {
    fn default() -> Self {
        Process {
            last: Mutex::new((Instant::now(), cpu_seconds())),
        }
    }
}

impl Process {
    pub fn read(&self) -> Reading {
        let (now, cpu) = (Instant::now(), cpu_seconds());
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let wall = now.duration_since(last.0).as_secs_f64();
        let cpu_percent = if wall > 0.0 {
            ((cpu - last.1) / wall * 100.0).max(0.0)
        } else {
            0.0
        };
        *last = (now, cpu);
        Reading {
            cpu_percent,
            memory_used: kib("/proc/self/status", "VmRSS:") * 1024,
            memory_total: kib("/proc/meminfo", "MemTotal:") * 1024,
        }
    }
}

/// Processor seconds used so far.
pub fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // The name in brackets may hold spaces: count from behind it.
    let rest = stat.rsplit_once(')').map_or("", |(_, r)| r);
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks = |i: usize| {
        fields
            .get(i)
            .and_then(|f| f.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    (ticks(11) + ticks(12)) / TICKS
}

/// The number behind a key of a file in `/proc`, mostly in KiB.
pub fn kib(file: &str, key: &str) -> u64 {
    let text = std::fs::read_to_string(file).unwrap_or_default();
    let line = text
        .lines()
        .find_map(|l| l.strip_prefix(key))
        .unwrap_or_default();
    line.split_whitespace()
        .next()
        .and_then(|n| n.parse().ok())
        .unwrap_or(0)
}
