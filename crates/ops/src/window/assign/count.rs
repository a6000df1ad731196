//! COUNTWINDOW(n, k): at every k-th row the last n, once there are so many.

use jiff::tz::TimeZone;
use rekuiper_value::Value;

use super::{Assign, Emit, Room, Span, Stay, number, numbers};
use crate::chunk::WindowTimes;

/// See the module's doc.
pub struct Count {
    count: usize,
    every: usize,
    /// Rows held, at most `count`.
    held: usize,
    /// Rows since the last k-th.
    since: usize,
    /// Time of the oldest row since the last emission.
    first: Option<i64>,
}

impl Count {
    pub fn new(count: usize, every: usize) -> Self {
        let every = every.max(1);
        Count { count: count.max(every), every, held: 0, since: 0, first: None }
    }
}

impl Assign for Count {
    fn due(&mut self, _clock: i64, _row: bool, _zone: &TimeZone) -> Option<Emit> {
        None
    }

    fn room(&self) -> Room {
        Room { until: i64::MAX, rows: self.every - self.since }
    }

    fn admit(&mut self, first: i64, _last: i64, rows: usize) {
        self.held = (self.held + rows).min(self.count);
        self.since += rows;
        self.first.get_or_insert(first);
    }

    fn after(&mut self, last: i64, _triggers: bool) -> Option<Emit> {
        if self.since < self.every {
            return None;
        }
        self.since = 0;
        if self.held < self.count {
            return None;
        }
        let times = WindowTimes { start: self.first.take(), end: Some(last), trigger: Some(last) };
        if self.count == self.every {
            self.held = 0;
            return Some(Emit { span: Span::All, stay: Stay::None, times });
        }
        let stay = Stay::Last(self.count - 1);
        self.held = self.count - 1;
        Some(Emit { span: Span::Last(self.count), stay, times })
    }

    fn save(&self) -> Value {
        let counts = [Some(self.held as i64), Some(self.since as i64), self.first];
        Value::array(counts.into_iter().map(number).collect())
    }

    fn load(&mut self, state: &Value) {
        if let [Some(held), Some(since), first] = numbers(state)[..] {
            self.held = usize::try_from(held).unwrap_or(0).min(self.count);
            self.since = usize::try_from(since).unwrap_or(0).min(self.every - 1);
            self.first = first;
        }
    }
}
