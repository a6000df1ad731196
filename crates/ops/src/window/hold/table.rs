//! What is held of numbered groups: their aggregates and the plain columns of their first rows, all
//! in flat vectors under the group's number. Who numbers them is somebody else's business.

use rekuiper_plan::physical::AggregateCall;
use rekuiper_value::batch::Stamps;
use rekuiper_value::{Column, Error, Result, Value};

use super::aggregates::Aggregate;
use super::firsts::Firsts;
use crate::chunk::{Emission, Origin};
use crate::frames::{put, spread};
use crate::{Chunk, Next, OpCx};

/// See the module's doc.
pub struct Table {
    aggregates: Vec<Aggregate>,
    /// The plain columns that are wanted, and each group's value.
    places: Box<[u16]>,
    firsts: Vec<Firsts>,
    width: usize,
    row_when_empty: bool,
    groups: usize,
    rows: usize,
    sel: Vec<u32>,
    /// The emission is lost.
    failed: Option<Error>,
}

/// The rows of a chunk with the number of each one's group. A new group has the next number.
#[derive(Clone, Copy)]
pub struct Numbered<'a> {
    pub rows: &'a [u32],
    pub ids: &'a [u32],
    /// How many groups there are with these rows.
    pub groups: usize,
}

impl Table {
    /// `places`: the columns that later steps read; those that no aggregate makes are of the first
    /// rows.
    pub fn new(
        calls: Vec<AggregateCall>,
        mut places: Vec<u16>,
        width: usize,
        row_when_empty: bool,
    ) -> Self {
        places.retain(|col| calls.iter().all(|call| call.col != *col));
        Table {
            aggregates: calls.into_iter().map(Aggregate::new).collect(),
            firsts: places.iter().map(|_| Firsts::default()).collect(),
            places: places.into(),
            width,
            row_when_empty,
            groups: 0,
            rows: 0,
            sel: Vec::new(),
            failed: None,
        }
    }

    pub fn rows(&self) -> usize {
        self.rows
    }

    pub fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// The emission is lost: what is there of it may be half done, and is not kept. The rows still
    /// count.
    pub fn fail(&mut self, error: Error, rows: usize) {
        let rows = self.rows + rows;
        self.clear(false);
        self.rows = rows;
        self.failed = Some(error);
    }

    /// Rows that come after the emission was lost.
    pub fn pass(&mut self, rows: usize) {
        self.rows += rows;
    }

    /// Takes rows in.
    pub fn add(
        &mut self,
        chunk: &Chunk<'_>,
        of: Numbered<'_>,
        ocx: &mut OpCx<'_, '_>,
    ) -> Result<()> {
        if of.groups > self.groups {
            self.begin(chunk, of);
            for aggregate in &mut self.aggregates {
                aggregate.grow(of.groups)?;
            }
            self.groups = of.groups;
        }
        for aggregate in &mut self.aggregates {
            aggregate.add(chunk, of.rows, of.ids, ocx)?;
        }
        self.rows += of.rows.len();
        Ok(())
    }

    /// Keeps the first rows of the new groups.
    fn begin(&mut self, chunk: &Chunk<'_>, of: Numbered<'_>) {
        let mut next = self.groups as u32;
        for (row, id) in of.rows.iter().zip(of.ids) {
            if *id == next {
                next += 1;
                for (place, firsts) in self.places.iter().zip(&mut self.firsts) {
                    firsts.push(chunk.frame.col(*place), *row as usize);
                }
            }
        }
    }

    /// Hands the groups on, one row each. [`clear`](Self::clear) comes next.
    pub fn send(
        &mut self,
        emission: Emission,
        stamp: i64,
        ocx: &mut OpCx<'_, '_>,
        next: &mut Next<'_>,
    ) {
        match self.failed.take() {
            Some(error) => next.error(&error, ocx),
            None if self.groups > 0 => self.send_groups(emission, stamp, ocx, next),
            None if self.row_when_empty => {
                let nothing = |a: &_| Ok(Column::values(vec![Aggregate::of_nothing(a)?]));
                let results: Result<Vec<Column>> = self.aggregates.iter().map(nothing).collect();
                match results {
                    Ok(results) => self.hand_on(&[], &results, 1, (emission, stamp), ocx, next),
                    Err(error) => next.error(&error, ocx),
                }
            }
            None => {}
        }
    }

    fn send_groups(
        &mut self,
        emission: Emission,
        stamp: i64,
        ocx: &mut OpCx<'_, '_>,
        next: &mut Next<'_>,
    ) {
        let groups = self.groups;
        let results: Result<Vec<Column>> =
            self.aggregates.iter().map(|a| Ok(Column::values(a.finish(groups)?))).collect();
        let results = match results {
            Ok(results) => results,
            Err(error) => return next.error(&error, ocx),
        };
        let firsts: Vec<Column> = self.firsts.iter_mut().map(Firsts::take).collect();
        self.hand_on(&firsts, &results, groups, (emission, stamp), ocx, next);
        for (kept, column) in self.firsts.iter_mut().zip(firsts) {
            kept.give_back(column);
        }
    }

    fn hand_on(
        &mut self,
        firsts: &[Column],
        results: &[Column],
        groups: usize,
        (emission, stamp): (Emission, i64),
        ocx: &mut OpCx<'_, '_>,
        next: &mut Next<'_>,
    ) {
        let mut frame = spread(&self.places, firsts, self.width, groups);
        for (aggregate, result) in self.aggregates.iter().zip(results) {
            put(&mut frame, aggregate.col, result);
        }
        self.sel.clear();
        self.sel.extend(0..groups as u32);
        let stamps = Stamps::Same(stamp);
        let (sel, source) = (&mut self.sel, Origin::One(0));
        next.push(Chunk { frame, stamps: &stamps, sel, emission, source }, ocx);
    }

    /// Empties everything; `roomy`: and gives the memory back.
    pub fn clear(&mut self, roomy: bool) {
        if roomy {
            self.sel = Vec::new();
        }
        self.aggregates.iter_mut().for_each(|a| a.clear(roomy));
        self.firsts.iter_mut().for_each(|f| f.clear(roomy));
        self.groups = 0;
        self.rows = 0;
        self.failed = None;
    }

    /// The results over all rows, for a single group; those over nothing where there was no row.
    pub fn results(&self) -> Result<Vec<(u16, Value)>> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let one = |a: &Aggregate| match self.groups {
            0 => a.of_nothing(),
            _ => Ok(a.finish(1)?.into_iter().next().unwrap_or_default()),
        };
        self.aggregates.iter().map(|a| Ok((a.col, one(a)?))).collect()
    }

    /// First rows, aggregates, how many rows, and the error if there was one.
    pub fn save(&self) -> [Value; 4] {
        let error = self.failed.as_ref().map_or(Value::Null, |e| Value::from(e.0.as_ref()));
        [
            Value::array(self.firsts.iter().map(|f| Value::array(f.saved())).collect()),
            Value::array(self.aggregates.iter().map(|a| a.save(self.groups)).collect()),
            Value::Int(self.rows as i64),
            error,
        ]
    }

    /// Whether a saved state is one of this plan's.
    pub fn fits(&self, [firsts, aggregates, rows, _]: [&Value; 4]) -> bool {
        let len = |v: &Value| v.as_array().map(|a| a.len());
        len(firsts) == Some(self.firsts.len())
            && len(aggregates) == Some(self.aggregates.len())
            && matches!(rows, Value::Int(_))
    }

    /// Puts a saved state of so many groups into an empty table. Groups of an emission that was
    /// lost have no state.
    pub fn load(&mut self, groups: usize, [firsts, aggregates, rows, error]: [&Value; 4]) {
        let list = |v: &Value| v.as_array().map(|a| a.to_vec()).unwrap_or_default();
        self.failed = error.as_str().map(Error::new);
        self.rows = if let Value::Int(n) = rows { usize::try_from(*n).unwrap_or(0) } else { 0 };
        if self.has_failed() {
            return;
        }
        for (held, saved) in self.firsts.iter_mut().zip(&list(firsts)) {
            let saved = list(saved);
            (0..groups).for_each(|i| held.push_value(saved.get(i).cloned().unwrap_or_default()));
        }
        for (aggregate, saved) in self.aggregates.iter_mut().zip(&list(aggregates)) {
            if aggregate.grow(groups).is_ok() {
                aggregate.load(saved);
            }
        }
        self.groups = groups;
    }
}
