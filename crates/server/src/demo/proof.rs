//! What came out is compared with what went in, row by row, in memory that does not grow.

use std::collections::HashSet;

use serde_json::Value;

use super::fleet;
use super::screen::{self, grouped};

/// Rows that may be ahead of a missing one before it counts as lost.
const AHEAD_MAX: usize = 1_000_000;

/// The rows of `hot`: every id that passes the filter must come, once, with the right values.
#[derive(Default)]
pub struct Rows {
    pub rows: u64,
    pub twice: u64,
    pub wrong: u64,
    lost: u64,
    /// All below are accounted for.
    next: u64,
    ahead: HashSet<u64>,
}

impl Rows {
    pub fn take(&mut self, line: &[u8]) {
        self.rows += 1;
        let row: Option<Value> = serde_json::from_slice(line).ok();
        let Some(id) = row.as_ref().and_then(right_id) else {
            self.wrong += 1;
            return;
        };
        if id < self.next || !self.ahead.insert(id) {
            self.twice += 1;
            return;
        }
        while self.ahead.len() > AHEAD_MAX && !self.ahead.contains(&self.next) {
            self.lost += u64::from(fleet::passes(self.next));
            self.next += 1;
        }
        self.advance(u64::MAX);
    }

    fn advance(&mut self, end: u64) {
        while self.next < end {
            let done = match fleet::passes(self.next) {
                true => self.ahead.remove(&self.next),
                // an id that does not pass is only behind us when a later one has come
                false => end != u64::MAX || !self.ahead.is_empty(),
            };
            if !done {
                return;
            }
            self.next += 1;
        }
    }

    /// Whether every row of `sent` messages is there.
    pub fn complete(&mut self, sent: u64) -> bool {
        self.advance(sent);
        self.next >= sent
    }

    fn missing(&mut self, sent: u64) -> u64 {
        self.advance(sent);
        let open = (self.next..sent).filter(|id| fleet::passes(*id) && !self.ahead.contains(id));
        self.lost + open.count() as u64
    }
}

/// The id of a row whose values are those of the message with that id.
fn right_id(row: &Value) -> Option<u64> {
    let id = row["id"].as_u64()?;
    let is = |key: &str, want: f64| {
        row[key].as_f64().is_some_and(|got| (got - want).abs() <= want.abs() * 1e-12)
    };
    let right = fleet::passes(id)
        && row["device"].as_str().is_some_and(|d| d.starts_with("dev-"))
        && is("temp", fleet::temp_tenths(id) as f64 / 10.0)
        && is("speed_kmh", fleet::speed_tenths(id) as f64 / 10.0 * 3.6)
        && row.as_object().is_some_and(|o| o.len() == 4);
    right.then_some(id)
}

/// The rows of `by_device`: the counts of all windows add up to what was sent.
pub struct Counts {
    pub sum: u64,
    pub rows: u64,
    wrong: u64,
    seen: Vec<bool>,
}

impl Counts {
    pub fn new(devices: u64) -> Counts {
        Counts { sum: 0, rows: 0, wrong: 0, seen: vec![false; devices as usize] }
    }

    pub fn take(&mut self, line: &[u8]) {
        self.rows += 1;
        let row: Value = serde_json::from_slice(line).unwrap_or_default();
        let device = row["device"].as_str().and_then(|d| d.strip_prefix("dev-")?.parse().ok());
        match (device.and_then(|d: usize| self.seen.get_mut(d)), row["n"].as_u64()) {
            (Some(seen), Some(n)) => {
                *seen = true;
                self.sum += n;
            }
            _ => self.wrong += 1,
        }
    }

    fn devices(&self) -> u64 {
        self.seen.iter().filter(|s| **s).count() as u64
    }
}

/// Prints the proof and says whether it holds.
pub fn tell(sent: u64, received: [u64; 2], rows: &mut Rows, counts: &Counts) -> bool {
    let expected = fleet::passing(sent);
    let missing = rows.missing(sent);
    // with fewer messages than devices some have not spoken yet
    let devices = sent.min(counts.seen.len() as u64);
    let arrived = sent > 0 && received == [sent; 2];
    let hot = rows.rows == expected && missing + rows.twice + rows.wrong == 0;
    let windows = counts.sum == sent && counts.wrong == 0 && counts.devices() >= devices;
    let mark = |holds| if holds { "holds" } else { "FAILS" };
    let n = grouped;
    screen::say(&format!(
        "proof {}: {} messages sent, {} received by the stream\n\
         proof {}: hot wrote {} rows, {} expected; {} missing, {} twice, {} wrong\n\
         proof {}: by_device counted {} messages in {} rows, {} of {} devices",
        mark(arrived),
        n(sent),
        received.map(n).join(" and "),
        mark(hot),
        n(rows.rows),
        n(expected),
        missing,
        rows.twice,
        rows.wrong,
        mark(windows),
        n(counts.sum),
        n(counts.rows),
        n(counts.devices()),
        n(counts.seen.len() as u64),
    ));
    arrived && hot && windows
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: u64) -> String {
        let (temp, speed) = (fleet::temp_tenths(id) as f64 / 10.0, fleet::speed_tenths(id) as f64);
        let speed = speed / 10.0 * 3.6;
        format!("{{\"id\":{id},\"device\":\"dev-00001\",\"temp\":{temp},\"speed_kmh\":{speed}}}")
    }

    fn rows(ids: impl Iterator<Item = u64>) -> Rows {
        let mut rows = Rows::default();
        ids.for_each(|id| rows.take(row(id).as_bytes()));
        rows
    }

    #[test]
    fn in_any_order_each_once() {
        let mut all = rows((0..1000).rev().filter(|id| fleet::passes(*id)));
        assert!(all.complete(1000) && all.ahead.is_empty());
        assert_eq!((all.missing(1000), all.twice, all.wrong), (0, 0, 0));
    }

    #[test]
    fn one_missing_one_twice_one_wrong_are_seen() {
        let mut some = rows((0..1000).filter(|id| fleet::passes(*id) && *id != 500).chain([7]));
        some.take(row(501).replace("dev-", "x").as_bytes());
        some.take(row(0).as_bytes());
        some.take(b"{\"id\":");
        assert!(fleet::passes(500) && !fleet::passes(0) && !some.complete(1000));
        assert_eq!((some.missing(1000), some.twice, some.wrong), (1, 1, 3));
    }

    #[test]
    fn counts_add_up_by_device() {
        let mut counts = Counts::new(3);
        for line in [r#"{"device":"dev-00002","n":4}"#, r#"{"device":"dev-00000","n":5}"#] {
            counts.take(line.as_bytes());
        }
        counts.take(br#"{"device":"dev-00003","n":1}"#);
        assert_eq!((counts.sum, counts.devices(), counts.wrong), (9, 2, 1));
    }
}
