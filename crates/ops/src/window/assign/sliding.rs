//! SLIDINGWINDOW: each row (or each that OVER(WHEN …) names) looks back over the length; with a
//! delay it also waits for what follows.

use std::collections::VecDeque;

use jiff::tz::TimeZone;
use rekuiper_value::Value;

use super::{Assign, Emit, Room, Span, Stay, numbers};
use crate::chunk::WindowTimes;

/// See the module's doc.
pub struct Sliding {
    length: i64,
    delay: i64,
    /// Times of the rows whose window waits for its delay, in their order.
    waiting: VecDeque<i64>,
    /// The row just taken in has not been answered yet.
    fresh: bool,
}

impl Sliding {
    pub fn new(length: i64, delay: i64) -> Self {
        Sliding { length, delay, waiting: VecDeque::new(), fresh: false }
    }

    fn times(&self, at: i64) -> WindowTimes {
        let end = at.saturating_add(self.delay);
        WindowTimes { start: Some(at - self.length), end: Some(end), trigger: Some(end) }
    }
}

impl Assign for Sliding {
    fn due(&mut self, clock: i64, _row: bool, _zone: &TimeZone) -> Option<Emit> {
        let at = *self.waiting.front()?;
        if clock < at.saturating_add(self.delay) {
            return None;
        }
        self.waiting.pop_front();
        let span = Span::Time { from: at - self.length, to: at.saturating_add(self.delay) };
        // later rows may trigger too: none of them looks farther back than this one
        Some(Emit { span, stay: Stay::From(at - self.length), times: self.times(at) })
    }

    fn room(&self) -> Room {
        Room { until: i64::MAX, rows: 1 }
    }

    fn admit(&mut self, _first: i64, _last: i64, _rows: usize) {
        self.fresh = true;
    }

    fn after(&mut self, last: i64, triggers: bool) -> Option<Emit> {
        if !std::mem::take(&mut self.fresh) || !triggers {
            return None;
        }
        if self.delay > 0 {
            self.waiting.push_back(last);
            return None;
        }
        let span = Span::Time { from: last - self.length, to: last.saturating_add(1) };
        Some(Emit { span, stay: Stay::From(last - self.length), times: self.times(last) })
    }

    fn deadline(&self) -> Option<i64> {
        self.waiting.front().map(|at| at.saturating_add(self.delay))
    }

    fn horizon(&self, clock: i64) -> i64 {
        self.waiting.front().map_or(clock, |at| clock.min(*at)).saturating_sub(self.length)
    }

    fn save(&self) -> Value {
        Value::array(self.waiting.iter().map(|at| Value::Int(*at)).collect())
    }

    fn load(&mut self, state: &Value) {
        self.waiting = numbers(state).into_iter().flatten().collect();
    }
}
