//! Which rows belong together, and when they leave: pure bookkeeping over times and counts.

use jiff::tz::TimeZone;
use rekuiper_value::Value;

use crate::chunk::WindowTimes;

pub mod count;
pub mod hopping;
pub mod session;
pub mod sliding;
pub mod state;
pub mod tumbling;

/// The held rows that an emission takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Span {
    All,
    /// Timestamps from (inclusive) to (exclusive).
    Time { from: i64, to: i64 },
    /// The last ones to come.
    Last(usize),
}

/// The held rows that stay after an emission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stay {
    None,
    /// From this timestamp on.
    From(i64),
    Last(usize),
}

/// A window is complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Emit {
    pub span: Span,
    pub stay: Stay,
    pub times: WindowTimes,
}

/// How far rows may be taken in together, without asking in between.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Room {
    /// Only rows before this time.
    pub until: i64,
    pub rows: usize,
}

/// One kind of window. The operator calls, for a run of rows: `due` with the first row's time until
/// nothing is due, `room`, `admit`, and `after` until nothing comes; for a clock that moves without
/// rows: `due`.
pub trait Assign: Send {
    /// What is complete once the clock stands at `clock`; asked again until `None`. `row`: a row of
    /// that time is about to come in.
    fn due(&mut self, clock: i64, row: bool, zone: &TimeZone) -> Option<Emit>;

    fn room(&self) -> Room {
        Room { until: i64::MAX, rows: usize::MAX }
    }

    /// `rows` rows of times `first` to `last` are in.
    fn admit(&mut self, first: i64, last: i64, rows: usize);

    /// What the rows just taken in have completed. `triggers`: OVER(WHEN …) holds for the last.
    fn after(&mut self, last: i64, triggers: bool) -> Option<Emit> {
        let _ = (last, triggers);
        None
    }

    /// When the clock should move at the latest.
    fn deadline(&self) -> Option<i64> {
        None
    }

    /// Rows before this time are in no window to come, given where the clock stands.
    fn horizon(&self, clock: i64) -> i64 {
        let _ = clock;
        i64::MIN
    }

    /// Leaves out windows without rows that end before `clock`.
    fn skip_to(&mut self, clock: i64) {
        let _ = clock;
    }

    fn save(&self) -> Value;
    fn load(&mut self, state: &Value);
}

/// A saved list of whole numbers, `None` where null.
pub(crate) fn numbers(state: &Value) -> Vec<Option<i64>> {
    let items = state.as_array().map(|a| a.as_slice()).unwrap_or_default();
    items.iter().map(|v| v.as_f64().map(|f| whole(v, f))).collect()
}

fn whole(value: &Value, nearest: f64) -> i64 {
    match value {
        Value::Int(i) | Value::Wide(i) => *i,
        _ => nearest as i64,
    }
}

pub(crate) fn number(value: Option<i64>) -> Value {
    value.map_or(Value::Null, Value::Int)
}
