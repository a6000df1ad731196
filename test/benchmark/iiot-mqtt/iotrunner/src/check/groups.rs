//! W2, W4, W5: per device, the sum of `n` equals what was sent; averages weighted with `n` add up
//! to the sum sent; the largest maximum is the largest value sent; all devices are there.

use std::collections::BTreeSet;

use mqttgen::workload::{Part, Workload};

use super::{Checker, Proof, Row, close, device_index, is_probe, name_some, parse_rows, whole};

#[derive(Clone, Copy, Default)]
struct Sums {
    n: u64,
    weighted: f64,
    max: f64,
}

pub struct Groups {
    workload: Workload,
    sums: Vec<Sums>,
    proof: Proof,
}

/// Which fields the rule averages and takes the maximum of, in tenths of message `i`.
fn averaged(workload: Workload, i: u64) -> Option<u64> {
    match workload {
        Workload::W2 => Some(workload.temp_tenths(i)),
        Workload::W4 => Some(workload.speed_tenths(i)),
        _ => None,
    }
}

fn maximum(workload: Workload, i: u64) -> u64 {
    match workload {
        Workload::W4 => workload.temp_tenths(i),
        _ => workload.speed_tenths(i),
    }
}

impl Groups {
    pub fn new(workload: Workload) -> Groups {
        let sums = vec![Sums::default(); workload.devices() as usize];
        Groups {
            workload,
            sums,
            proof: Proof::default(),
        }
    }

    /// `None` when the row is not one this rule can make.
    fn row(&mut self, row: &Row) -> Option<()> {
        let name = row.get("device")?.as_str()?;
        let n = whole(row.get("n"))?;
        if is_probe(name) {
            self.proof.probes += 1;
            return Some(());
        }
        let device = device_index(self.workload, name)?;
        let sums = &mut self.sums[device as usize];
        sums.n += n;
        // Without an alias the column is named by the function, or by its whole text.
        let column = |name: &str| {
            let found = row
                .iter()
                .find(|(key, _)| key.split('(').next() == Some(name));
            found.and_then(|(_, value)| value.as_f64())
        };
        if averaged(self.workload, 0).is_some() {
            sums.weighted += column("avg")? * n as f64;
        }
        sums.max = sums.max.max(column("max")?);
        Some(())
    }
}

impl Checker for Groups {
    fn line(&mut self, line: &[u8]) {
        let rows = parse_rows(line);
        let right = rows.is_some_and(|rows| rows.iter().all(|row| self.row(row).is_some()));
        if !right {
            self.proof.wrong += 1;
            self.proof.example("not a row of this rule", line);
        }
    }

    fn finish(&mut self, parts: &[Part]) -> Proof {
        let w = self.workload;
        let mut proof = std::mem::take(&mut self.proof);
        let mut expected = vec![Sums::default(); self.sums.len()];
        for part in parts {
            part.residues(w.period(), |slot, times| {
                let sums = &mut expected[w.device_of(slot) as usize];
                sums.n += times;
                let tenths = averaged(w, slot).unwrap_or(0);
                sums.weighted += tenths as f64 / 10.0 * times as f64;
                sums.max = sums.max.max(maximum(w, slot) as f64 / 10.0);
            });
        }
        let mut absent = BTreeSet::new();
        for (device, (found, sent)) in (0u64..).zip(self.sums.iter().zip(&expected)) {
            proof.expected += sent.n;
            proof.found += found.n;
            proof.missing += sent.n.saturating_sub(found.n);
            proof.duplicate += found.n.saturating_sub(sent.n);
            if found.n == 0 {
                absent.insert(device);
            }
            let same_sum = (found.weighted - sent.weighted).abs() <= 1e-6 * sent.weighted.max(1.0);
            if found.n == sent.n && !(same_sum && close(found.max, sent.max)) {
                proof.wrong += 1;
                let text = format!(
                    "{}: sum of averages {} (sent {}), max {} (sent {})",
                    w.device_name(device),
                    found.weighted,
                    sent.weighted,
                    found.max,
                    sent.max
                );
                proof.example("wrong aggregate", text.as_bytes());
            }
        }
        proof.devices_missing = absent.len() as u64;
        if !absent.is_empty() {
            proof.examples.push(name_some(w, &absent));
        }
        proof
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a right engine writes, in two windows cut at message 7,000.
    fn right(w: Workload, count: u64) -> Vec<String> {
        let mut lines = Vec::new();
        for window in [0..7_000, 7_000..count] {
            for device in 0..w.devices() {
                let mine: Vec<u64> = window
                    .clone()
                    .filter(|i| w.device_of(*i) == device)
                    .collect();
                if mine.is_empty() {
                    continue;
                }
                let n = mine.len();
                let max = mine.iter().map(|i| maximum(w, *i)).max().unwrap_or(0) as f64 / 10.0;
                let sum: u64 = mine.iter().filter_map(|i| averaged(w, *i)).sum();
                let avg = sum as f64 / 10.0 / n as f64;
                let name = w.device_name(device);
                lines.push(format!(
                    "{{\"device\":\"{name}\",\"n\":{n},\"avg\":{avg},\"max\":{max}}}"
                ));
            }
        }
        lines
    }

    fn check(w: Workload, lines: &[String], count: u64) -> Proof {
        let mut groups = Groups::new(w);
        lines.iter().for_each(|line| groups.line(line.as_bytes()));
        groups.finish(&[Part {
            first: 0,
            stride: 1,
            count,
        }])
    }

    #[test]
    fn right_windows_are_exact() {
        for w in [Workload::W2, Workload::W5] {
            let mut lines = right(w, 12_345);
            lines.push("[{\"device\":\"probe-0001\",\"n\":3,\"avg\":1,\"max\":1}]".to_string());
            let proof = check(w, &lines, 12_345);
            assert!(proof.exact(), "{proof} {:?}", proof.examples);
            assert_eq!(proof.probes, 1);
        }
    }

    #[test]
    fn faults_are_found() {
        let w = Workload::W2;
        let lines = right(w, 12_345);
        assert!(check(w, &lines[1..], 12_345).missing > 0);
        let mut twice = lines.clone();
        twice.push(lines[0].clone());
        assert!(check(w, &twice, 12_345).duplicate > 0);
        let mut wrong = lines.clone();
        wrong[0] = wrong[0].replace("\"avg\":", "\"avg\":9");
        assert_eq!(check(w, &wrong, 12_345).wrong, 1);
        let mut strange = lines.clone();
        strange.push("{\"device\":\"dev-1000\",\"n\":1,\"avg\":1,\"max\":1}".to_string());
        assert_eq!(check(w, &strange, 12_345).wrong, 1);
        let gone: Vec<String> = lines
            .iter()
            .filter(|line| !line.contains("dev-0007"))
            .cloned()
            .collect();
        assert_eq!(check(w, &gone, 12_345).devices_missing, 1);
    }
}
