//! Windows that overlap, each with groups of its own: a row goes into the running aggregates of
//! every open window that it is in, and no row is kept.
//!
//! Panes that are merged when a window ends would touch each row once only, but the sum of sums of
//! doubles differs in its last digits from the sum of the rows in their order, and that is what is
//! promised (and what the buffered window gives). So each window adds for itself. There are never
//! more open windows than panes, and what is dear about a row, finding its group, is done once: all
//! windows share the keys.
//!
//! The window that ends next has every row that the later ones have, so its groups are all there
//! are: keys that it does not know are forgotten from time to time.

use std::collections::VecDeque;

use rekuiper_expr::Expr;
use rekuiper_functions::FunctionDef;
use rekuiper_plan::physical::{AggregateCall, AggregatePlan};
use rekuiper_value::{Error, Value};

use super::groups::Room;
use super::keys::Keys;
use super::table::{Numbered, Table};
use super::{Hold, RunTimes};
use crate::chunk::{Emission, WindowTimes};
use crate::frames::RowExpr;
use crate::window::assign::{self, Span, Stay};
use crate::{Chunk, Next, OpCx};

/// No group of this window.
const NOT_HERE: u32 = u32::MAX;
/// Keys of nobody are forgotten once there are so many of them and they are the larger part.
const SLACK: usize = 1024;

/// What positions of windows are measured in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Measure {
    Millis,
    Rows,
}

/// Length and distance of the windows.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    pub measure: Measure,
    pub length: i64,
    pub hop: i64,
}

/// See the module's doc.
pub struct Overlap {
    grid: Grid,
    dims: Box<[RowExpr]>,
    /// What tables of windows are made from.
    calls: Vec<(&'static FunctionDef, Vec<Expr>, u16)>,
    places: Vec<u16>,
    width: usize,
    row_when_empty: bool,
    keys: Keys,
    /// By their ends.
    open: VecDeque<Open>,
    spare: Vec<Open>,
    ids: Vec<u32>,
    own_ids: Vec<u32>,
    /// The next end: rows come before it, until it is emitted.
    end: i64,
    /// Rows that came; the position of the next where rows are the measure.
    seen: i64,
    room: Room,
}

/// A window that has not ended.
struct Open {
    end: i64,
    /// By number of the shared keys: the number among this window's own groups.
    slots: Vec<u32>,
    /// The other way round; own numbers follow the order of first rows.
    order: Vec<u32>,
    table: Table,
}

impl Open {
    fn clear(&mut self, roomy: bool) {
        self.slots.clear();
        self.order.clear();
        if roomy {
            (self.slots, self.order) = (Vec::new(), Vec::new());
        }
        self.table.clear(roomy);
    }

    /// The own number of each row's group.
    fn number(&mut self, ids: &[u32], keys: usize, own: &mut Vec<u32>) {
        self.slots.resize(keys, NOT_HERE);
        own.clear();
        for id in ids {
            let slot = &mut self.slots[*id as usize];
            if *slot == NOT_HERE {
                *slot = self.order.len() as u32;
                self.order.push(*id);
            }
            own.push(*slot);
        }
    }

    /// The first error is the one that is told.
    fn fail(&mut self, error: &Error, rows: usize) {
        match self.table.has_failed() {
            true => self.table.pass(rows),
            false => self.table.fail(error.clone(), rows),
        }
    }

    fn add(&mut self, chunk: &Chunk<'_>, rows: &[u32], own: &[u32], ocx: &mut OpCx<'_, '_>) {
        if self.table.has_failed() {
            return self.table.pass(rows.len());
        }
        let of = Numbered { rows, ids: own, groups: self.order.len() };
        if let Err(error) = self.table.add(chunk, of, ocx) {
            self.fail(&error, rows.len());
        }
    }
}

impl Overlap {
    /// `places`: the columns that later steps read.
    pub fn new(grid: Grid, plan: AggregatePlan, places: Vec<u16>, width: usize) -> Self {
        let row_when_empty = plan.row_when_empty && plan.dimensions.is_empty();
        Overlap {
            grid: Grid { length: grid.length.max(1), hop: grid.hop.max(1), ..grid },
            dims: RowExpr::list(plan.dimensions),
            calls: plan.calls.into_iter().map(|c| (c.def, c.args, c.col)).collect(),
            places,
            width,
            row_when_empty,
            keys: Keys::default(),
            open: VecDeque::new(),
            spare: Vec::new(),
            ids: Vec::new(),
            own_ids: Vec::new(),
            end: 0,
            seen: 0,
            room: Room::default(),
        }
    }

    fn fresh(&mut self, end: i64) -> Open {
        if let Some(mut open) = self.spare.pop() {
            open.end = end;
            return open;
        }
        let call = |(def, args, col): &(&'static FunctionDef, Vec<Expr>, u16)| AggregateCall {
            def,
            args: args.clone(),
            col: *col,
        };
        let calls = self.calls.iter().map(call).collect();
        let table = Table::new(calls, self.places.clone(), self.width, self.row_when_empty);
        Open { end, slots: Vec::new(), order: Vec::new(), table }
    }

    /// Opens all windows that a row at `position` is in and gives the position before which rows
    /// are in the very same ones. The windows that are open already hold it: ends lie behind it.
    fn open_at(&mut self, position: i64) -> i64 {
        let Grid { length, hop, .. } = self.grid;
        let reach = position.saturating_add(length);
        if reach < self.end {
            return self.end - length; // between two windows
        }
        let last = self.end + (reach - self.end) / hop * hop;
        let mut end = self.open.back().map_or(self.end, |open| open.end + hop);
        while end <= last {
            let open = self.fresh(end);
            self.open.push_back(open);
            end += hop;
        }
        last - length + hop
    }

    /// Rows that are all in all open windows.
    fn feed(&mut self, chunk: &Chunk<'_>, rows: &[u32], ocx: &mut OpCx<'_, '_>) {
        self.ids.clear();
        if let Err(error) = self.keys.number(&self.dims, chunk, rows, ocx, &mut self.ids) {
            return self.open.iter_mut().for_each(|o| o.fail(&error, rows.len()));
        }
        let keys = self.keys.len();
        for open in &mut self.open {
            open.number(&self.ids, keys, &mut self.own_ids);
            open.add(chunk, rows, &self.own_ids, ocx);
        }
    }

    /// Takes the window with this end out.
    fn close(&mut self, end: i64) -> Open {
        while self.open.front().is_some_and(|open| open.end < end) {
            let passed = self.open.pop_front();
            self.spare.extend(passed);
        }
        match self.open.front() {
            Some(open) if open.end == end => self.open.pop_front(),
            _ => None,
        }
        .unwrap_or_else(|| self.fresh(end))
    }

    /// Forgets the keys that no open window knows, where they are many.
    fn forget_keys(&mut self, roomy: bool) {
        let live = self.open.front().map_or(0, |open| open.order.len());
        if live > 0 && !roomy && self.keys.len() < live * 2 + SLACK {
            return;
        }
        let mut fresh = Keys::default();
        if live == 0 {
            std::mem::swap(&mut fresh, &mut self.keys);
            fresh.clear(roomy);
        }
        let mut moved = vec![NOT_HERE; self.keys.len()];
        for id in self.open.front().iter().flat_map(|open| &open.order) {
            moved[*id as usize] = fresh.restore(&self.keys.key(*id)).unwrap_or(NOT_HERE);
        }
        for open in &mut self.open {
            open.slots = vec![NOT_HERE; fresh.len()];
            for (own, id) in open.order.iter_mut().enumerate() {
                *id = moved[*id as usize];
                open.slots[*id as usize] = own as u32;
            }
        }
        self.keys = fresh;
    }
}

impl Hold for Overlap {
    fn before(&mut self, room: &assign::Room) {
        self.end = match self.grid.measure {
            Measure::Millis => room.until,
            Measure::Rows => {
                // the first window ends once there are enough rows
                let end = self.seen.saturating_add(i64::try_from(room.rows).unwrap_or(i64::MAX));
                let hops = (self.grid.length - end).max(0).saturating_add(self.grid.hop - 1);
                end.saturating_add(hops / self.grid.hop * self.grid.hop)
            }
        };
    }

    fn add(
        &mut self,
        chunk: &Chunk<'_>,
        rows: &[u32],
        times: RunTimes<'_>,
        ocx: &mut OpCx<'_, '_>,
    ) {
        let mut from = 0;
        while from < rows.len() {
            let left = rows.len() - from;
            let to = match (self.grid.measure, times) {
                (Measure::Rows, _) => {
                    let until = self.open_at(self.seen);
                    from + left.min(usize::try_from(until - self.seen).unwrap_or(1).max(1))
                }
                (Measure::Millis, RunTimes::Same(at)) => {
                    self.open_at(at);
                    rows.len()
                }
                (Measure::Millis, RunTimes::Each(all)) => {
                    let until = self.open_at(times.at(from));
                    let here = all.iter().skip(from).take_while(|at| **at < until).count();
                    from + here.clamp(1, left)
                }
            };
            if !self.open.is_empty() {
                self.feed(chunk, &rows[from..to], ocx);
            }
            self.seen += (to - from) as i64;
            from = to;
        }
    }

    fn emit(
        &mut self,
        span: Span,
        times: WindowTimes,
        ocx: &mut OpCx<'_, '_>,
        next: &mut Next<'_>,
    ) {
        let end = match span {
            Span::Time { to, .. } => to,
            Span::All | Span::Last(_) => self.seen,
        };
        let mut window = self.close(end);
        let stamp = times.end.unwrap_or(ocx.cx.now_ms);
        window.table.send(Emission::Set(times), stamp, ocx, next);
        let roomy = self.room.is_roomy(window.order.len());
        window.clear(roomy);
        if roomy {
            self.spare = Vec::new();
        }
        self.spare.push(window);
        self.forget_keys(roomy);
    }

    /// Sending has let go of what no window needs.
    fn keep(&mut self, _stay: Stay) {}

    fn held(&self) -> usize {
        self.open.front().map_or(0, |open| open.table.rows())
    }

    fn save(&self) -> Value {
        let window = |open: &Open| {
            let keys = open.order.iter().map(|id| Value::bytes(&self.keys.key(*id)[..])).collect();
            let head = [Value::Int(open.end), Value::array(keys)];
            Value::array(head.into_iter().chain(open.table.save()).collect())
        };
        Value::array(vec![
            Value::Int(self.seen),
            Value::array(self.open.iter().map(window).collect()),
        ])
    }

    fn load(&mut self, state: &Value) {
        let Some([Value::Int(seen), Value::Array(windows)]) = state.as_array().map(|a| &a[..])
        else {
            return;
        };
        self.open.clear();
        self.keys.clear(false);
        self.seen = *seen;
        for window in windows.iter() {
            let Some([Value::Int(end), Value::Array(keys), a, b, c, d]) =
                window.as_array().map(|a| &a[..])
            else {
                continue;
            };
            let (mut open, table) = (self.fresh(*end), [a, b, c, d]);
            if !open.table.fits(table) {
                continue; // of another plan
            }
            for key in keys.iter() {
                if let Value::Bytes(key) = key
                    && let Some(id) = self.keys.restore(key)
                {
                    open.order.push(id);
                }
            }
            open.table.load(open.order.len(), table);
            self.open.push_back(open);
        }
        let keys = self.keys.len();
        for open in &mut self.open {
            open.slots.resize(keys, NOT_HERE);
            for (own, id) in open.order.iter().enumerate() {
                open.slots[*id as usize] = own as u32;
            }
        }
    }
}
