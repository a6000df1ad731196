//! SESSIONWINDOW: rows belong together as long as none is missed for longer than the timeout. At
//! every aligned tick of the greatest length a session that is older than that length is cut.

use jiff::tz::TimeZone;
use rekuiper_plan::physical::TimeUnit;
use rekuiper_value::Value;

use super::{Assign, Emit, Room, Span, Stay, number, numbers};
use crate::chunk::WindowTimes;
use crate::window::align::first_end;

/// See the module's doc.
pub struct Session {
    unit: TimeUnit,
    length: i64,
    timeout: i64,
    event: bool,
    /// First and last row of the open session.
    open: Option<(i64, i64)>,
    /// The next tick; known from the first row on.
    tick: Option<i64>,
    /// Where the last session was cut, and its last row: a row that continues it begins there.
    cut: Option<(i64, i64)>,
}

impl Session {
    pub fn new(unit: TimeUnit, length: i64, timeout: i64, event: bool) -> Self {
        Session {
            unit,
            length: length.max(1),
            timeout: timeout.max(0),
            event,
            open: None,
            tick: None,
            cut: None,
        }
    }

    fn close(&mut self, start: i64, end: i64) -> Option<Emit> {
        self.open = None;
        let times = WindowTimes { start: Some(start), end: Some(end), trigger: Some(end) };
        Some(Emit { span: Span::All, stay: Stay::None, times })
    }

    /// Moves the tick behind the clock without looking at it.
    fn pass_ticks(&mut self, clock: i64) {
        if let Some(tick) = self.tick
            && tick <= clock
        {
            let steps = (clock - tick) / self.length + 1;
            self.tick = Some(tick + steps * self.length);
        }
    }

    /// Whether the session is over at its timeout once the clock stands at `clock`.
    fn timed_out(&self, end: i64, clock: i64, row: bool) -> bool {
        // a row exactly at the end still continues the session
        if row || self.event { clock > end } else { clock >= end }
    }
}

impl Assign for Session {
    fn due(&mut self, clock: i64, row: bool, zone: &TimeZone) -> Option<Emit> {
        if row && self.tick.is_none() {
            self.tick = Some(first_end(clock, self.unit, self.length, zone, self.event));
        }
        let Some((first, last)) = self.open else {
            self.pass_ticks(clock);
            return None;
        };
        let end = last.saturating_add(self.timeout);
        while let Some(tick) = self.tick.filter(|t| *t <= clock && *t <= end) {
            self.tick = Some(tick.saturating_add(self.length));
            if first < tick - self.length {
                self.cut = Some((tick, last));
                return self.close(first, tick);
            }
        }
        if self.timed_out(end, clock, row) {
            return self.close(first, end);
        }
        None
    }

    fn room(&self) -> Room {
        let end = self.open.map(|(_, last)| last.saturating_add(self.timeout).saturating_add(1));
        let until = end.into_iter().chain(self.tick).min();
        // before the session is open only one row is taken: it says where the session is
        match self.open {
            Some(_) => Room { until: until.unwrap_or(i64::MAX), rows: usize::MAX },
            None => Room { until: i64::MAX, rows: 1 },
        }
    }

    fn admit(&mut self, first: i64, last: i64, _rows: usize) {
        let cut = self.cut.take();
        match &mut self.open {
            Some(open) => open.1 = last,
            None => {
                let goes_on = cut.filter(|(_, before)| first <= before + self.timeout);
                self.open = Some((goes_on.map_or(first, |(at, _)| at), last));
            }
        }
    }

    fn deadline(&self) -> Option<i64> {
        if self.event {
            return None;
        }
        let (_, last) = self.open?;
        let end = last.saturating_add(self.timeout);
        Some(self.tick.map_or(end, |tick| tick.min(end)))
    }

    fn save(&self) -> Value {
        let (open, cut) = (self.open, self.cut);
        let parts = [open.map(|o| o.0), open.map(|o| o.1), self.tick, cut.map(|c| c.0)];
        Value::array(parts.into_iter().chain([cut.map(|c| c.1)]).map(number).collect())
    }

    fn load(&mut self, state: &Value) {
        if let [first, last, tick, at, before] = numbers(state)[..] {
            self.open = first.zip(last);
            self.tick = tick;
            self.cut = at.zip(before);
        }
    }
}
