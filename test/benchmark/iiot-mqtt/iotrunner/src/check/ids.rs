//! W1: the set of ids equals the expected one, none twice, every value that of its id.
//!
//! A row is compared byte by byte with an earlier row of the same slot (all but the id repeats),
//! and only the first of each slot is parsed and compared by value. So all rows of a file of many
//! gigabytes are checked in full, at the speed of comparing memory.

use memchr::memmem::Finder;
use mqttgen::workload::{ID_BASE, Part, Workload};

use super::{Checker, Proof, Row, close, is_probe, parse_rows, whole};

pub struct Ids {
    workload: Workload,
    parts: Vec<Part>,
    seen: Vec<u64>,
    /// Per device the last index in this file, if order is looked at.
    last: Option<Vec<Option<u64>>>,
    /// Per slot: what stood before and after the id in a row that was right.
    right: Vec<Option<(Vec<u8>, Vec<u8>)>>,
    key: Finder<'static>,
    proof: Proof,
}

impl Ids {
    pub fn new(workload: Workload, parts: &[Part], ordered: bool) -> Ids {
        Ids {
            workload,
            parts: parts.to_vec(),
            seen: Vec::new(),
            last: ordered.then(|| vec![None; workload.devices() as usize]),
            right: vec![None; workload.period() as usize],
            key: Finder::new(b"\"id\":"),
            proof: Proof::default(),
        }
    }

    /// The index of a row that equals a known right one but for its id.
    fn known(&self, line: &[u8], at: usize) -> Option<u64> {
        let id = decimal(line.get(at..at + 10)?)?;
        let i = id.checked_sub(ID_BASE)?;
        let (before, after) = self.right[(i % self.workload.period()) as usize].as_ref()?;
        (line[..at] == before[..] && line[at + 10..] == after[..]).then_some(i)
    }

    fn row(&mut self, row: &Row, line: &[u8]) -> Option<u64> {
        if row
            .get("device")
            .and_then(|d| d.as_str())
            .is_some_and(is_probe)
        {
            self.proof.probes += 1;
            return None;
        }
        let i = whole(row.get("id")).and_then(|id| id.checked_sub(ID_BASE));
        let Some(i) = i.filter(|i| self.values_right(row, *i)) else {
            self.proof.wrong += 1;
            self.proof.example("wrong values", line);
            return None;
        };
        self.mark(i, line);
        Some(i)
    }

    fn values_right(&self, row: &Row, i: u64) -> bool {
        let w = self.workload;
        let float = |key: &str| row.get(key).and_then(|v| v.as_f64()).unwrap_or(f64::NAN);
        row.len() == 4
            && row["device"].as_str() == Some(&w.device_name(w.device_of(i)))
            && close(float("temp"), w.temp_tenths(i) as f64 / 10.0)
            && close(float("speed_kmh"), w.speed_tenths(i) as f64 / 10.0 * 3.6)
    }

    fn mark(&mut self, i: u64, line: &[u8]) {
        if !self.workload.passes(i) || !self.parts.iter().any(|part| part.holds(i)) {
            self.proof.unexpected += 1;
            return self.proof.example("not expected", line);
        }
        let (word, bit) = ((i / 64) as usize, 1u64 << (i % 64));
        if word >= self.seen.len() {
            self.seen.resize((word + 1).next_power_of_two(), 0);
        }
        if self.seen[word] & bit != 0 {
            self.proof.duplicate += 1;
            return self.proof.example("twice", line);
        }
        if let Some(list) = &mut self.last {
            let last = &mut list[self.workload.device_of(i) as usize];
            if last.is_some_and(|last| last > i) {
                self.proof.disordered += 1;
                self.proof.example("after a later one of its device", line);
            }
            *last = Some(i);
        }
        self.seen[word] |= bit;
        self.proof.found += 1;
    }
}

impl Checker for Ids {
    fn next_file(&mut self) {
        self.last.iter_mut().for_each(|list| list.fill(None));
    }

    fn line(&mut self, line: &[u8]) {
        let at = self.key.find(line).map(|at| at + 5);
        if let Some(i) = at.and_then(|at| self.known(line, at)) {
            return self.mark(i, line);
        }
        let Some(rows) = parse_rows(line) else {
            self.proof.wrong += 1;
            return self.proof.example("not a row", line);
        };
        let single = rows.len() == 1;
        for row in &rows {
            let i = self.row(row, line);
            if let (Some(i), Some(at), true) = (i, at, single) {
                let slot = &mut self.right[(i % self.workload.period()) as usize];
                // Only where the id is written as ten digits, and nowhere further on again.
                let written = line.get(at..at + 10).and_then(decimal) == Some(ID_BASE + i);
                let ends = line
                    .get(at + 10)
                    .is_some_and(|b| !b.is_ascii_digit() && *b != b'.');
                if written && ends && slot.is_none() {
                    *slot = Some((line[..at].to_vec(), line[at + 10..].to_vec()));
                }
            }
        }
    }

    fn finish(&mut self, parts: &[Part]) -> Proof {
        let mut proof = std::mem::take(&mut self.proof);
        for part in parts {
            part.residues(self.workload.period(), |slot, times| {
                proof.expected += if self.workload.passes(slot) { times } else { 0 };
            });
        }
        proof.missing = proof.expected.saturating_sub(proof.found);
        proof
    }
}

fn decimal(digits: &[u8]) -> Option<u64> {
    digits.iter().try_fold(0u64, |n, b| {
        b.is_ascii_digit().then(|| n * 10 + u64::from(b - b'0'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(i: u64) -> String {
        let w = Workload::W1;
        format!(
            "{{\"id\":{},\"device\":\"{}\",\"temp\":{},\"speed_kmh\":{}}}",
            ID_BASE + i,
            w.device_name(w.device_of(i)),
            w.temp_tenths(i) as f64 / 10.0,
            w.speed_tenths(i) as f64 / 10.0 * 3.6
        )
    }

    fn check(lines: &[String], count: u64) -> Proof {
        let parts = [
            Part {
                first: 0,
                stride: 2,
                count: count / 2,
            },
            Part {
                first: 1,
                stride: 2,
                count: count / 2,
            },
        ];
        let mut ids = Ids::new(Workload::W1, &parts, false);
        lines.iter().for_each(|line| ids.line(line.as_bytes()));
        ids.finish(&parts)
    }

    fn right(count: u64) -> Vec<String> {
        (0..count)
            .filter(|i| Workload::W1.passes(*i))
            .map(line)
            .collect()
    }

    #[test]
    fn the_right_file_is_exact_in_any_order_and_as_arrays() {
        let mut lines = right(9_000);
        assert_eq!(lines.len(), 9_000 / 150 * 139);
        lines.reverse();
        assert!(check(&lines, 9_000).exact());
        let array = vec![format!("[{}]", lines.join(","))];
        assert!(check(&array, 9_000).exact());
        let probe = "{\"id\":900000000,\"device\":\"probe-0000\",\"temp\":34,\"speed_kmh\":1}";
        lines.push(probe.to_string());
        let proof = check(&lines, 9_000);
        assert!(proof.exact() && proof.probes == 1);
    }

    #[test]
    fn each_kind_of_fault_is_found_and_named() {
        let lines = right(9_000);
        let missing = check(&lines[1..], 9_000);
        assert_eq!((missing.exact(), missing.missing), (false, 1));
        let mut twice = lines.clone();
        twice.push(lines[5_000].clone());
        assert_eq!(check(&twice, 9_000).duplicate, 1);
        let mut more = lines.clone();
        more.push(line(0));
        assert_eq!(check(&more, 9_000).unexpected, 1);
        let mut later = lines.clone();
        later.push(line(9_011));
        assert_eq!(check(&later, 9_000).unexpected, 1);
        let mut wrong = lines.clone();
        wrong[8_000] = wrong[8_000].replace("\"temp\":", "\"temp\":1");
        assert_eq!(check(&wrong, 9_000).wrong, 1);
        let mut torn = lines.clone();
        torn[8_001].truncate(40);
        assert_eq!(check(&torn, 9_000).wrong, 1);
        assert!(!check(&[], 9_000).exact());
    }

    #[test]
    fn order_is_by_device_and_file() {
        let parts = [Part {
            first: 0,
            stride: 1,
            count: 9_000,
        }];
        let disordered = |files: &[Vec<String>]| {
            let mut ids = Ids::new(Workload::W1, &parts, true);
            for lines in files {
                ids.next_file();
                lines.iter().for_each(|line| ids.line(line.as_bytes()));
            }
            ids.finish(&parts).disordered
        };
        let lines = right(9_000);
        assert_eq!(disordered(std::slice::from_ref(&lines)), 0);
        // Another device may come first, and another file begins anew.
        let mut swapped = lines.clone();
        swapped.swap(10, 11);
        assert_eq!(disordered(&[swapped]), 0);
        let (early, late) = lines.split_at(4_000);
        assert_eq!(disordered(&[late.to_vec(), early.to_vec()]), 0);
        assert!(disordered(&[[late, early].concat()]) > 0);
    }
}
