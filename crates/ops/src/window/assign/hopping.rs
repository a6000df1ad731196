//! HOPPINGWINDOW: [end - length, end), an end at every hop.

use jiff::tz::TimeZone;
use rekuiper_plan::physical::TimeUnit;
use rekuiper_value::Value;

use super::{Assign, Emit, Room, Span, Stay, number, numbers};
use crate::chunk::WindowTimes;
use crate::window::align::first_end;

/// See the module's doc.
pub struct Hopping {
    unit: TimeUnit,
    length: i64,
    hop: i64,
    event: bool,
    /// The next end.
    end: Option<i64>,
}

impl Hopping {
    pub fn new(unit: TimeUnit, length: i64, hop: i64, event: bool) -> Self {
        Hopping { unit, length: length.max(1), hop: hop.max(1), event, end: None }
    }
}

impl Assign for Hopping {
    fn due(&mut self, clock: i64, row: bool, zone: &TimeZone) -> Option<Emit> {
        let Some(end) = self.end else {
            if row || !self.event {
                self.end = Some(first_end(clock, self.unit, self.hop, zone, self.event));
                return self.due(clock, row, zone);
            }
            return None;
        };
        if clock < end {
            return None;
        }
        let following = end.saturating_add(self.hop);
        self.end = Some(following);
        let start = end - self.length;
        let times = WindowTimes { start: Some(start), end: Some(end), trigger: Some(end) };
        let span = Span::Time { from: start, to: end };
        Some(Emit { span, stay: Stay::From(following - self.length), times })
    }

    fn room(&self) -> Room {
        Room { until: self.end.unwrap_or(i64::MAX), rows: usize::MAX }
    }

    fn admit(&mut self, _first: i64, _last: i64, _rows: usize) {}

    fn deadline(&self) -> Option<i64> {
        (!self.event).then(|| self.end.unwrap_or(0))
    }

    fn horizon(&self, _clock: i64) -> i64 {
        self.end.map_or(i64::MIN, |end| end - self.length)
    }

    fn skip_to(&mut self, clock: i64) {
        if let Some(end) = self.end
            && clock >= end
        {
            let steps = (clock - end) / self.hop + 1;
            self.end = Some(end + steps * self.hop);
        }
    }

    fn save(&self) -> Value {
        Value::array(vec![number(self.end)])
    }

    fn load(&mut self, state: &Value) {
        self.end = numbers(state).first().copied().flatten();
    }
}
