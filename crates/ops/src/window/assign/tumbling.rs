//! TUMBLINGWINDOW: [previous end, end), one after the other.

use jiff::tz::TimeZone;
use rekuiper_plan::physical::TimeUnit;
use rekuiper_value::Value;

use super::{Assign, Emit, Room, Span, Stay, number, numbers};
use crate::chunk::WindowTimes;
use crate::window::align::first_end;

/// See the module's doc.
pub struct Tumbling {
    unit: TimeUnit,
    length: i64,
    event: bool,
    /// Start and end of the open window.
    open: Option<(i64, i64)>,
}

impl Tumbling {
    pub fn new(unit: TimeUnit, length: i64, event: bool) -> Self {
        Tumbling { unit, length: length.max(1), event, open: None }
    }
}

impl Assign for Tumbling {
    fn due(&mut self, clock: i64, row: bool, zone: &TimeZone) -> Option<Emit> {
        let Some((start, end)) = self.open else {
            // in event time only a row opens the first window
            if row || !self.event {
                let end = first_end(clock, self.unit, self.length, zone, self.event);
                self.open = Some((clock, end));
                return self.due(clock, row, zone);
            }
            return None;
        };
        if clock < end {
            return None;
        }
        self.open = Some((end, end.saturating_add(self.length)));
        let times = WindowTimes { start: Some(start), end: Some(end), trigger: Some(end) };
        Some(Emit { span: Span::All, stay: Stay::None, times })
    }

    fn room(&self) -> Room {
        Room { until: self.open.map_or(i64::MAX, |(_, end)| end), rows: usize::MAX }
    }

    fn admit(&mut self, _first: i64, _last: i64, _rows: usize) {}

    fn deadline(&self) -> Option<i64> {
        // zero: at once, to learn when the rule began
        (!self.event).then(|| self.open.map_or(0, |(_, end)| end))
    }

    fn skip_to(&mut self, clock: i64) {
        if let Some((_, end)) = self.open
            && clock >= end
        {
            let steps = (clock - end) / self.length;
            let start = end + steps * self.length;
            self.open = Some((start, start.saturating_add(self.length)));
        }
    }

    fn save(&self) -> Value {
        let open = self.open;
        Value::array(vec![number(open.map(|o| o.0)), number(open.map(|o| o.1))])
    }

    fn load(&mut self, state: &Value) {
        if let [Some(start), Some(end)] = numbers(state)[..] {
            self.open = Some((start, end));
        }
    }
}
