//! Proofs: the files are read back and compared with what was sent; rules without files are proven
//! by their own counters, which is said in the record.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::case::{self, Case};

/// What the proof of one run found.
#[derive(Debug, Default)]
pub struct Proof {
    pub rules: u64,
    pub results: u64,
    pub faults: Vec<String>,
}

const FAULTS_SHOWN: usize = 5;

impl Proof {
    fn fault(&mut self, text: String) {
        if self.faults.len() < FAULTS_SHOWN {
            self.faults.push(text);
        }
    }

    pub fn holds(&self) -> bool {
        self.faults.is_empty()
    }
}

/// Every rule's file holds exactly the lines that messages `0..sent` give it, in their order.
pub fn files(case: Case, rules: u64, sent: u64, folder: &Path) -> Proof {
    let mut proof = Proof { rules, ..Proof::default() };
    for rule in 0..rules {
        let path = folder.join(format!("r{rule}.jsonl"));
        let text = fs::read_to_string(&path).unwrap_or_default();
        let checked = match case.is_window(rule) {
            true => windows(&text, sent),
            false => lines(&text, (0..sent).filter(|i| case.passes(rule, rules, *i))),
        };
        match checked {
            Ok(results) => proof.results += results,
            Err(why) => proof.fault(format!("rule r{rule}: {why}")),
        }
    }
    proof
}

fn lines(text: &str, expected: impl Iterator<Item = u64>) -> Result<u64, String> {
    let mut found = text.lines();
    let mut count = 0;
    for i in expected {
        let want = case::line(i);
        match found.next() {
            Some(line) if line == want => count += 1,
            other => return Err(format!("line {count} is {other:?}, expected {want}")),
        }
    }
    match found.next() {
        None => Ok(count),
        Some(more) => Err(format!("more than expected: {more}")),
    }
}

/// The sum of n is what was sent, also device by device.
fn windows(text: &str, sent: u64) -> Result<u64, String> {
    let mut counts = vec![0u64; case::DEVICES as usize];
    let mut results = 0;
    for line in text.lines() {
        let row: Value = serde_json::from_str(line).map_err(|e| format!("{line}: {e}"))?;
        let device = row["device"].as_str().and_then(|d| d.strip_prefix("dev-")?.parse().ok());
        let (Some(device), Some(n)) = (device, row["n"].as_u64()) else {
            return Err(format!("not a result: {line}"));
        };
        let device: usize = device;
        *counts.get_mut(device).ok_or("an unknown device")? += n;
        results += 1;
    }
    for (device, count) in (0..).zip(&counts) {
        let want = sent / case::DEVICES + u64::from(device < sent % case::DEVICES);
        if *count != want {
            return Err(format!("device {device}: {count} counted, {want} sent"));
        }
    }
    Ok(results)
}

/// Each rule's status says that its sink took so many rows and that nothing failed.
pub fn counters(statuses: impl Iterator<Item = (u64, String)>, sent: u64) -> Proof {
    let mut proof = Proof::default();
    for (rule, text) in statuses {
        proof.rules += 1;
        let status: Value = serde_json::from_str(&text).unwrap_or_default();
        let read = |key: &str| status[key].as_u64();
        let taken = read("sink_nop_0_0_records_out_total");
        let failed = read("sink_nop_0_0_exceptions_total");
        match (taken, failed) {
            (Some(n), Some(0)) if n == sent => proof.results += n,
            _ => proof.fault(format!("rule r{rule}: took {taken:?} of {sent}, failed {failed:?}")),
        }
    }
    proof
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_a_double_and_a_foreign_line_are_found() {
        let text = |ids: &[u64]| ids.iter().map(|i| case::line(*i) + "\n").collect::<String>();
        assert_eq!(lines(&text(&[1, 5, 9]), [1, 5, 9].into_iter()), Ok(3));
        for bad in [&[1, 9][..], &[1, 5, 5, 9], &[1, 5, 9, 10], &[5, 1, 9]] {
            assert!(lines(&text(bad), [1, 5, 9].into_iter()).is_err());
        }
    }

    #[test]
    fn windows_must_count_every_device() {
        let rows = |n: u64| {
            let row = |d: u64| format!("{{\"device\":\"dev-{d:04}\",\"n\":{n}}}\n");
            (0..case::DEVICES).map(row).collect::<String>()
        };
        assert_eq!(windows(&rows(2), 2_000), Ok(1_000));
        assert!(windows(&rows(2), 2_001).is_err());
    }
}
