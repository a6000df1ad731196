//! Reading processes and the machine: CPU time, anonymous heap, load of everybody else.

use std::fs;

/// Ticks a second in /proc; 100 on every Linux this runs on.
const TICK_NS: u64 = 10_000_000;

/// One reading, cumulative where it is a time.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reading {
    pub engine_cpu_ns: u64,
    pub engine_anon_kib: u64,
    pub broker_cpu_ns: u64,
    pub generator_cpu_ns: u64,
    pub runner_cpu_ns: u64,
    pub machine_cpu_ns: u64,
}

/// One second of a step, as it goes into raw.csv.
#[derive(Clone, Debug, Default)]
pub struct Second {
    pub second: f64,
    pub phase: &'static str,
    pub sent: u64,
    pub engine_cpu_pct: f64,
    pub engine_anon_kib: u64,
    pub broker_cpu_pct: f64,
    pub generator_cpu_pct: f64,
    pub generator_lag_ms: f64,
    pub broker_dropped: u64,
    pub others_cpu_pct: f64,
    pub sink_bytes: u64,
}

/// The middle one; of an even count the lower of the two.
pub fn middle(mut list: Vec<f64>) -> f64 {
    list.sort_by(f64::total_cmp);
    list.get(list.len().saturating_sub(1) / 2)
        .copied()
        .unwrap_or(0.0)
}

/// CPU time so far of each thread of a process.
pub fn threads_cpu_ns(pid: u32) -> Vec<(String, u64)> {
    let entries = fs::read_dir(format!("/proc/{pid}/task"))
        .into_iter()
        .flatten();
    let time = |entry: fs::DirEntry| {
        let text = fs::read_to_string(entry.path().join("stat")).ok()?;
        let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks = |i: usize| fields.get(i)?.parse::<u64>().ok();
        let id = entry.file_name().to_string_lossy().into_owned();
        Some((id, (ticks(11)? + ticks(12)?) * TICK_NS))
    };
    entries.flatten().filter_map(time).collect()
}

/// User and system time of a process and the children it has reaped.
pub fn process_cpu_ns(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name, in brackets, may hold anything; the fields are counted after it.
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks = |i: usize| fields.get(i)?.parse::<u64>().ok();
    Some((ticks(11)? + ticks(12)? + ticks(13)? + ticks(14)?) * TICK_NS)
}

/// Anonymous memory in KiB; exact from smaps_rollup, else the kernel's running count.
pub fn anonymous_kib(pid: u32) -> Option<u64> {
    let field = |file: &str, key: &str| {
        let text = fs::read_to_string(format!("/proc/{pid}/{file}")).ok()?;
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        line.split_whitespace().next()?.parse().ok()
    };
    field("smaps_rollup", "Anonymous:").or_else(|| field("status", "RssAnon:"))
}

/// Busy time of all cores together.
pub fn machine_cpu_ns() -> Option<u64> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let fields: Vec<u64> = text
        .lines()
        .next()?
        .split_whitespace()
        .skip(1)
        .filter_map(|f| f.parse().ok())
        .collect();
    let busy: u64 = [0, 1, 2, 5, 6, 7]
        .iter()
        .filter_map(|i| fields.get(*i))
        .sum();
    Some(busy * TICK_NS)
}

impl Reading {
    /// CPU of everybody but the benchmark between two readings, in percent of one core.
    pub fn others_pct(&self, before: &Reading, seconds: f64) -> f64 {
        let ours =
            |r: &Reading| r.engine_cpu_ns + r.broker_cpu_ns + r.generator_cpu_ns + r.runner_cpu_ns;
        let all = self.machine_cpu_ns.saturating_sub(before.machine_cpu_ns);
        let ours = ours(self).saturating_sub(ours(before));
        percent(all.saturating_sub(ours), seconds)
    }
}

pub fn percent(cpu_ns: u64, seconds: f64) -> f64 {
    if seconds > 0.0 {
        cpu_ns as f64 / 1e7 / seconds
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_can_be_read() {
        let me = std::process::id();
        assert!(anonymous_kib(me).unwrap() > 50);
        let before = process_cpu_ns(me).unwrap();
        let mut x = 1u64;
        while process_cpu_ns(me).unwrap() < before + 3 * TICK_NS {
            x = x.wrapping_mul(3);
        }
        assert!(x != 0 && machine_cpu_ns().unwrap() > 0);
    }

    #[test]
    fn others_are_what_is_left() {
        let before = Reading::default();
        let after = Reading {
            engine_cpu_ns: 1_000_000_000,
            machine_cpu_ns: 1_500_000_000,
            ..Reading::default()
        };
        assert_eq!(after.others_pct(&before, 1.0), 50.0);
    }

    #[test]
    fn the_middle_is_no_mean() {
        assert_eq!(middle(vec![9.0, 1.0, 2.0]), 2.0);
        assert_eq!(middle(vec![3.0, 1.0]), 1.0);
        assert_eq!(middle(vec![]), 0.0);
    }
}
