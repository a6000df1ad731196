//! The exact proofs: the sink file is read back whole and compared with what was sent.

use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

use mqttgen::workload::{Part, Workload};
use serde_json::{Map, Value};

use crate::spec::ProofKind;

pub mod groups;
pub mod ids;
pub mod lines;
pub mod rows;

/// How many wrong rows are kept as examples.
const EXAMPLES_MAX: usize = 5;

pub type Row = Map<String, Value>;

/// What was found, in the units of the workload (rows, or messages counted by `n`).
#[derive(Clone, Debug, Default)]
pub struct Proof {
    pub expected: u64,
    pub found: u64,
    pub missing: u64,
    pub duplicate: u64,
    /// Rows that should not be there.
    pub unexpected: u64,
    /// Rows with a wrong value, and lines that are no rows.
    pub wrong: u64,
    pub devices_missing: u64,
    /// Rows of a device that stand after a later one of the same file; looked at with `ordered`.
    pub disordered: u64,
    pub probes: u64,
    pub lines: u64,
    pub bytes: u64,
    pub examples: Vec<String>,
}

impl Proof {
    pub fn exact(&self) -> bool {
        self.expected == self.found
            && self.missing == 0
            && self.duplicate == 0
            && self.unexpected == 0
            && self.wrong == 0
            && self.devices_missing == 0
            && self.disordered == 0
    }

    fn example(&mut self, what: &str, line: &[u8]) {
        if self.examples.len() < EXAMPLES_MAX {
            let line = &line[..line.len().min(300)];
            self.examples
                .push(format!("{what}: {}", String::from_utf8_lossy(line)));
        }
    }
}

impl fmt::Display for Proof {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let verdict = if self.exact() { "exact" } else { "NOT exact" };
        write!(
            f,
            "{verdict}: expected {}, found {}, missing {}, duplicate {}, unexpected {}, wrong {}, \
             devices missing {}, out of order {}; {} lines, {} bytes, {} probe rows",
            self.expected,
            self.found,
            self.missing,
            self.duplicate,
            self.unexpected,
            self.wrong,
            self.devices_missing,
            self.disordered,
            self.lines,
            self.bytes,
            self.probes
        )
    }
}

/// Reads the files and proves that together they hold what was sent. `ordered`: within a file the
/// rows of a device must come in the order of sending (each file has one connection's).
pub fn prove(
    kind: ProofKind,
    workload: Workload,
    parts: &[Part],
    paths: &[PathBuf],
    ordered: bool,
) -> Result<Proof, String> {
    let mut checker: Box<dyn Checker> = match kind {
        ProofKind::Ids => Box::new(ids::Ids::new(workload, parts, ordered)),
        ProofKind::Rows => Box::new(rows::Rows::new(workload)),
        ProofKind::Groups => Box::new(groups::Groups::new(workload)),
    };
    let (mut lines, mut bytes) = (0, 0);
    for path in paths {
        checker.next_file();
        lines::for_each(path, |line| {
            lines += 1;
            bytes += line.len() as u64 + 1;
            checker.line(line);
        })
        .map_err(|e| format!("cannot read the sink file {}: {e}", path.display()))?;
    }
    let mut proof = checker.finish(parts);
    proof.lines = lines;
    proof.bytes = bytes;
    Ok(proof)
}

pub trait Checker {
    /// Called before each file.
    fn next_file(&mut self) {}
    fn line(&mut self, line: &[u8]);
    fn finish(&mut self, parts: &[Part]) -> Proof;
}

/// The rows of a line: an object, or an array of objects.
pub fn parse_rows(line: &[u8]) -> Option<Vec<Row>> {
    match serde_json::from_slice(line).ok()? {
        Value::Object(row) => Some(vec![row]),
        Value::Array(list) => list
            .into_iter()
            .map(|value| match value {
                Value::Object(row) => Some(row),
                _ => None,
            })
            .collect(),
        _ => None,
    }
}

pub fn is_probe(name: &str) -> bool {
    name.starts_with("probe-")
}

/// A whole number, also when it is written as a float.
pub fn whole(value: Option<&Value>) -> Option<u64> {
    let value = value?;
    value.as_u64().or_else(|| {
        value
            .as_f64()
            .filter(|x| x.fract() == 0.0)
            .map(|x| x as u64)
    })
}

pub fn close(a: f64, b: f64) -> bool {
    (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1.0)
}

/// Which device index a name has, by rule of the workload.
pub fn device_index(workload: Workload, name: &str) -> Option<u64> {
    let digits = name.len() - name.bytes().rev().take_while(u8::is_ascii_digit).count();
    let mut digits = &name[digits..];
    // "WVWZZZ1KZ00000012": only the last eight digits count, and they all are digits.
    if digits.len() > 8 {
        digits = &digits[digits.len() - 8..];
    }
    let index = digits.parse().ok().filter(|i| *i < workload.devices())?;
    (workload.device_name(index) == name).then_some(index)
}

/// Names of absent devices, shortened, for the record.
pub fn name_some(workload: Workload, absent: &BTreeSet<u64>) -> String {
    let names: Vec<String> = absent
        .iter()
        .take(3)
        .map(|device| workload.device_name(*device))
        .collect();
    format!(
        "devices without a row: {} of them, e.g. {}",
        absent.len(),
        names.join(" ")
    )
}
