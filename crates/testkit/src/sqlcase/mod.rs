//! SQL cases: rows and a statement in, emissions out.
//!
//! A case is a JSON object: `streams` (`name`, `fields`, `with`, `kind`, `input` or `lines`),
//! `sql`,
//! `options`, and what is expected: `expect`, a list of emissions, each a list of rows (in any
//! order unless the statement has ORDER BY), or `error`, where it must be refused.

mod catalog;
mod run;

use serde_json::Value as Json;

pub use run::{Mode, run, timed, timed_with};

/// The cases of a file, one a line.
pub fn cases(jsonl: &str) -> Vec<Json> {
    let lines = jsonl.lines().filter(|l| !l.trim().is_empty());
    lines.map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e} in {l}"))).collect()
}

/// What is wrong with the answer of a case; `None`: nothing.
pub fn check(case: &Json, mode: Mode) -> Option<String> {
    let got = run(case, mode);
    match (&got, case["error"] == true) {
        (Err(_), true) => None,
        (Ok(got), false) => {
            let want = case["expect"].as_array().cloned().unwrap_or_default();
            let ordered = case["sql"].as_str().unwrap_or("").to_uppercase().contains("ORDER BY");
            let same = got.len() == want.len()
                && got.iter().zip(&want).all(|(g, w)| same_rows(g, w, ordered));
            let texts = || (Json::from(want.clone()), Json::from(got.clone()));
            (!same).then(|| format!("want {}\n  got  {}", texts().0, texts().1))
        }
        (Err(error), false) => Some(format!("refused: {error}")),
        (Ok(_), true) => Some("accepted, but must be refused".to_owned()),
    }
}

fn same_rows(got: &Json, want: &Json, ordered: bool) -> bool {
    let (Some(got), Some(want)) = (got.as_array(), want.as_array()) else { return false };
    if got.len() != want.len() {
        return false;
    }
    if ordered {
        return got.iter().zip(want).all(|(g, w)| same(g, w));
    }
    let mut left: Vec<&Json> = want.iter().collect();
    got.iter().all(|g| {
        let found = left.iter().position(|w| same(g, w));
        found.map(|at| left.swap_remove(at)).is_some()
    })
}

/// Equal as JSON; doubles may differ in the last digits.
pub fn same(a: &Json, b: &Json) -> bool {
    match (a, b) {
        (Json::Number(x), Json::Number(y)) => match (x.as_i64(), y.as_i64()) {
            (Some(x), Some(y)) => x == y,
            _ => {
                let (x, y) = (x.as_f64().unwrap_or(f64::NAN), y.as_f64().unwrap_or(f64::NAN));
                (x - y).abs() <= f64::max(1e-9 * x.abs().max(y.abs()), 1e-12)
            }
        },
        (Json::Array(x), Json::Array(y)) => {
            x.len() == y.len() && x.iter().zip(y).all(|(x, y)| same(x, y))
        }
        (Json::Object(x), Json::Object(y)) => {
            x.len() == y.len() && x.iter().all(|(k, v)| y.get(k).is_some_and(|w| same(v, w)))
        }
        _ => a == b,
    }
}
