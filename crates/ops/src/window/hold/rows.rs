//! Rows as they are, column by column, in the order in which they came. Windows are handed on by
//! reference: the selection says which of the held rows are in.

use rekuiper_expr::Frame;
use rekuiper_value::batch::Stamps;
use rekuiper_value::{Column, Value};

use super::{Hold, RunTimes};
use crate::chunk::{Emission, Origin, WindowTimes};
use crate::frames::spread;
use crate::window::assign::{Span, Stay, numbers};
use crate::{Chunk, Next, OpCx};

/// Rows at the front that are no longer wanted are taken away once there are so many of them and
/// they are the larger part.
const SLACK: usize = 1024;

/// See the module's doc.
pub struct Rows {
    /// Which columns are held.
    places: Box<[u16]>,
    cols: Vec<Column>,
    /// Columns of the frames that go out.
    width: usize,
    stamps: Stamps,
    sources: Vec<u16>,
    /// The first row that is still wanted.
    start: usize,
    scratch: Vec<u32>,
}

impl Rows {
    pub fn new(places: Vec<u16>, width: usize) -> Self {
        Rows {
            cols: places.iter().map(|_| Column::values(Vec::new())).collect(),
            places: places.into(),
            width,
            stamps: Stamps::Each(Vec::new()),
            sources: Vec::new(),
            start: 0,
            scratch: Vec::new(),
        }
    }

    fn times(&self) -> &[i64] {
        match &self.stamps {
            Stamps::Each(all) => all,
            Stamps::Same(_) => &[],
        }
    }

    /// Rows held, unwanted ones included.
    pub fn total(&self) -> usize {
        self.sources.len()
    }

    /// The rows that are wanted, by index.
    pub fn live(&self) -> std::ops::Range<usize> {
        self.start..self.total()
    }

    /// All held rows; an index stands where it stood when the row came.
    pub fn frame(&self) -> Frame<'_> {
        spread(&self.places, &self.cols, self.width, self.total())
    }

    pub fn time(&self, row: usize) -> i64 {
        self.stamps.get(row)
    }

    /// The index of the first held row at or after a time.
    fn first_at(&self, time: i64) -> usize {
        self.start + self.times()[self.start..].partition_point(|t| *t < time)
    }

    pub fn push_rows(&mut self, chunk: &Chunk<'_>, rows: &[u32], times: RunTimes<'_>) {
        for (place, column) in self.places.iter().zip(&mut self.cols) {
            let Some(values) = column.values_mut() else { continue };
            match chunk.frame.col(*place) {
                Some(from) => values.extend(rows.iter().map(|row| from.value(*row as usize))),
                None => values.extend(rows.iter().map(|_| Value::Missing)),
            }
        }
        if let Stamps::Each(all) = &mut self.stamps {
            all.extend((0..rows.len()).map(|i| times.at(i)));
        }
        self.sources.extend(rows.iter().map(|row| chunk.source.of(*row) as u16));
    }

    /// Hands on the rows that `select` names, by index.
    pub fn emit_rows(
        &mut self,
        select: impl FnOnce(&mut Vec<u32>),
        emission: Emission,
        ocx: &mut OpCx<'_, '_>,
        next: &mut Next<'_>,
    ) {
        let Rows { places, cols, width, stamps, sources, scratch, .. } = self;
        scratch.clear();
        select(scratch);
        let frame: Frame<'_> = spread(places, cols.iter(), *width, sources.len());
        let source = Origin::Each(sources);
        next.push(Chunk { frame, stamps, sel: scratch, emission, source }, ocx);
    }

    /// All wanted rows as a chunk.
    pub fn with_rows(&mut self, emission: Emission, then: impl FnOnce(Chunk<'_>)) {
        let live = self.live();
        let Rows { places, cols, width, stamps, sources, scratch, .. } = self;
        scratch.clear();
        scratch.extend(live.start as u32..live.end as u32);
        let frame: Frame<'_> = spread(places, cols.iter(), *width, sources.len());
        then(Chunk { frame, stamps, sel: scratch, emission, source: Origin::Each(sources) });
    }

    /// Lets go of the rows before an index.
    pub fn keep_from(&mut self, index: usize) {
        self.start = index.min(self.total());
        if self.start == self.total() || (self.start > SLACK && self.start * 2 > self.total()) {
            let start = std::mem::take(&mut self.start);
            for column in &mut self.cols {
                if let Some(values) = column.values_mut() {
                    values.drain(..start);
                    tighten(values);
                }
            }
            if let Stamps::Each(all) = &mut self.stamps {
                all.drain(..start);
                tighten(all);
            }
            self.sources.drain(..start);
            tighten(&mut self.sources);
        }
    }

    /// Puts the rows with these indexes, in this order, in the place of all that is held.
    pub fn keep_only(&mut self, order: &[usize]) {
        for column in &mut self.cols {
            if let Some(values) = column.values_mut() {
                let take = |i: &usize| values.get_mut(*i).map(std::mem::take).unwrap_or_default();
                let kept = order.iter().map(take).collect();
                *values = kept;
            }
        }
        let times = self.times();
        let kept = order.iter().filter_map(|i| times.get(*i)).copied().collect();
        self.stamps = Stamps::Each(kept);
        self.sources = order.iter().filter_map(|i| self.sources.get(*i)).copied().collect();
        self.start = 0;
    }
}

/// Gives memory back that a far larger window took.
fn tighten<T>(held: &mut Vec<T>) {
    if held.capacity() > 4 * SLACK && held.capacity() / 8 > held.len() {
        held.shrink_to(held.len() * 2);
    }
}

impl Hold for Rows {
    fn add(
        &mut self,
        chunk: &Chunk<'_>,
        rows: &[u32],
        times: RunTimes<'_>,
        _ocx: &mut OpCx<'_, '_>,
    ) {
        self.push_rows(chunk, rows, times);
    }

    fn emit(
        &mut self,
        span: Span,
        times: WindowTimes,
        ocx: &mut OpCx<'_, '_>,
        next: &mut Next<'_>,
    ) {
        let (from, to) = match span {
            Span::All => (self.start, self.total()),
            Span::Time { from, to } => (self.first_at(from), self.first_at(to)),
            Span::Last(n) => (self.total().saturating_sub(n).max(self.start), self.total()),
        };
        let select = |sel: &mut Vec<u32>| sel.extend(from as u32..to as u32);
        self.emit_rows(select, Emission::Set(times), ocx, next);
    }

    fn keep(&mut self, stay: Stay) {
        let from = match stay {
            Stay::None => self.total(),
            Stay::From(time) => self.first_at(time),
            Stay::Last(n) => self.total().saturating_sub(n).max(self.start),
        };
        self.keep_from(from);
    }

    fn held(&self) -> usize {
        self.total() - self.start
    }

    fn save(&self) -> Value {
        let rows = self.start..self.total();
        let column = |c: &Column| Value::array(rows.clone().map(|r| c.value(r)).collect());
        Value::array(vec![
            Value::array(self.times()[self.start..].iter().map(|t| Value::Int(*t)).collect()),
            Value::array(
                self.sources[self.start..].iter().map(|s| Value::Int((*s).into())).collect(),
            ),
            Value::array(self.cols.iter().map(column).collect()),
        ])
    }

    fn load(&mut self, state: &Value) {
        let Some([times, sources, cols]) = state.as_array().map(|a| a.as_slice()) else { return };
        let times: Vec<i64> = numbers(times).into_iter().flatten().collect();
        let sources: Vec<u16> =
            numbers(sources).into_iter().map(|s| s.unwrap_or(0) as u16).collect();
        let Some(cols) = cols.as_array().filter(|c| c.len() == self.cols.len()) else { return };
        let cols: Vec<Vec<Value>> =
            cols.iter().map(|c| c.as_array().map(|v| v.to_vec()).unwrap_or_default()).collect();
        if sources.len() != times.len() || cols.iter().any(|c| c.len() != times.len()) {
            return; // of another plan
        }
        self.cols = cols.into_iter().map(Column::values).collect();
        self.stamps = Stamps::Each(times);
        self.sources = sources;
        self.start = 0;
    }
}
