//! W3: rows = sent, all topics there, each (topic, value) as often as it was sent.

use std::collections::{BTreeSet, HashMap};

use mqttgen::workload::{Part, Workload};

use super::{Checker, Proof, Row, device_index, is_probe, name_some, parse_rows};

pub struct Rows {
    workload: Workload,
    counts: Vec<u64>,
    /// Lines that were parsed and found right, with their slot: a line has no counter in it,
    /// so there are only as many different ones as slots.
    known: HashMap<Vec<u8>, usize>,
    proof: Proof,
}

impl Rows {
    pub fn new(workload: Workload) -> Rows {
        Rows {
            workload,
            counts: vec![0; workload.period() as usize],
            known: HashMap::new(),
            proof: Proof::default(),
        }
    }

    /// The slot of a row; `Err(true)` is a probe, `Err(false)` a wrong row.
    fn slot(&self, row: &Row) -> Result<usize, bool> {
        let topic = row.get("topic").and_then(|t| t.as_str()).unwrap_or("");
        let (front, back) = self.workload.filter().split_once('+').unwrap_or_default();
        let name = topic
            .strip_prefix(front)
            .and_then(|rest| rest.strip_suffix(back));
        let name = name.ok_or(false)?;
        if is_probe(name) {
            return Err(true);
        }
        let device = device_index(self.workload, name).ok_or(false)?;
        let state = row.get("state").ok_or(false)?;
        let text = state
            .as_str()
            .map_or_else(|| state.to_string(), str::to_string);
        (device..self.workload.period())
            .step_by(self.workload.devices() as usize)
            .find(|slot| {
                let sent = self.workload.state_text(*slot);
                text == sent || text == base64(sent.as_bytes())
            })
            .map(|slot| slot as usize)
            .ok_or(false)
    }
}

impl Checker for Rows {
    fn line(&mut self, line: &[u8]) {
        if let Some(slot) = self.known.get(line) {
            self.counts[*slot] += 1;
            return;
        }
        let Some(rows) = parse_rows(line) else {
            self.proof.wrong += 1;
            return self.proof.example("not a row", line);
        };
        for row in &rows {
            match self.slot(row) {
                Ok(slot) => {
                    self.counts[slot] += 1;
                    if rows.len() == 1 {
                        self.known.insert(line.to_vec(), slot);
                    }
                }
                Err(true) => self.proof.probes += 1,
                Err(false) => {
                    self.proof.wrong += 1;
                    self.proof.example("wrong topic or value", line);
                }
            }
        }
    }

    fn finish(&mut self, parts: &[Part]) -> Proof {
        let mut proof = std::mem::take(&mut self.proof);
        let mut expected = vec![0u64; self.counts.len()];
        for part in parts {
            part.residues(self.workload.period(), |slot, n| {
                expected[slot as usize] += n
            });
        }
        let mut absent = BTreeSet::new();
        for (slot, (found, sent)) in self.counts.iter().zip(&expected).enumerate() {
            proof.found += found;
            proof.expected += sent;
            proof.missing += sent.saturating_sub(*found);
            proof.duplicate += found.saturating_sub(*sent);
            if *found > 0 {
                absent.remove(&self.workload.device_of(slot as u64));
            } else if (slot as u64) < self.workload.devices() {
                absent.insert(slot as u64);
            }
        }
        proof.devices_missing = absent.len() as u64;
        if !absent.is_empty() {
            proof.examples.push(name_some(self.workload, &absent));
        }
        proof
    }
}

fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for part in bytes.chunks(3) {
        let mut three = [0u8; 3];
        three[..part.len()].copy_from_slice(part);
        let bits = u32::from_be_bytes([0, three[0], three[1], three[2]]);
        for k in 0..4 {
            let six = (bits >> (18 - 6 * k)) as usize & 63;
            out.push(if k <= part.len() {
                char::from(ALPHABET[six])
            } else {
                '='
            });
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(i: u64, encode: bool) -> String {
        let w = Workload::W3;
        let topic = w.topic_of(&w.device_name(w.device_of(i)));
        let text = w.state_text(i);
        let state = if encode {
            base64(text.as_bytes())
        } else {
            text
        };
        format!("{{\"topic\":\"{topic}\",\"state\":\"{state}\"}}")
    }

    fn check(lines: &[String], count: u64) -> Proof {
        let parts = [Part {
            first: 0,
            stride: 1,
            count,
        }];
        let mut rows = Rows::new(Workload::W3);
        lines.iter().for_each(|line| rows.line(line.as_bytes()));
        rows.finish(&parts)
    }

    #[test]
    fn text_and_base64_are_both_exact_and_faults_are_found() {
        assert_eq!(base64(b"21.4"), "MjEuNA==");
        for encode in [false, true] {
            let lines: Vec<String> = (0..35_000).map(|i| line(i, encode)).collect();
            assert!(check(&lines, 35_000).exact());
            assert_eq!(check(&lines[1..], 35_000).missing, 1);
            let mut twice = lines.clone();
            twice.push(lines[7].clone());
            assert_eq!(check(&twice, 35_000).duplicate, 1);
            // A row swapped for another of the same topic keeps the count, not the proof.
            let mut swapped = lines.clone();
            swapped[3] = lines[10_003].clone();
            assert!(!check(&swapped, 35_000).exact());
        }
        let few: Vec<String> = (0..9_999).map(|i| line(i, false)).collect();
        assert_eq!(check(&few, 9_999).devices_missing, 1);
    }
}
