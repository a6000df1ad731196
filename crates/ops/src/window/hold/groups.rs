//! Groups with running aggregates instead of rows: what windows cost then follows from how many
//! groups there are, not from how many rows.
//!
//! All of a group lies in flat vectors under its number; after an emission they are emptied and
//! kept, so that a steady load needs no new memory.

use rekuiper_plan::physical::AggregatePlan;
use rekuiper_value::batch::Stamps;
use rekuiper_value::{Column, Error, Value};

use super::aggregates::Aggregate;
use super::firsts::Firsts;
use super::keys::Keys;
use super::{Hold, RunTimes};
use crate::chunk::{Emission, Origin, WindowTimes};
use crate::frames::{RowExpr, put, spread};
use crate::window::assign::{Span, Stay};
use crate::{Chunk, Next, OpCx};

/// Memory is given back where this many times fewer groups came than there is room for.
const ROOMY: usize = 8;
/// Room for fewer groups than this is never given back.
const SMALL: usize = 4096;

/// See the module's doc.
pub struct Groups {
    dims: Box<[RowExpr]>,
    keys: Keys,
    aggregates: Vec<Aggregate>,
    /// The plain columns that are wanted, and each group's value.
    places: Box<[u16]>,
    firsts: Vec<Firsts>,
    width: usize,
    row_when_empty: bool,
    rows: usize,
    /// Most groups since memory was last given back.
    most: usize,
    ids: Vec<u32>,
    /// The emission is lost.
    failed: Option<Error>,
}

impl Groups {
    /// `places`: the columns that later steps read; those that no aggregate makes are of the first
    /// rows.
    pub fn new(plan: AggregatePlan, mut places: Vec<u16>, width: usize) -> Self {
        places.retain(|col| plan.calls.iter().all(|call| call.col != *col));
        Groups {
            dims: RowExpr::list(plan.dimensions),
            keys: Keys::default(),
            aggregates: plan.calls.into_iter().map(Aggregate::new).collect(),
            firsts: places.iter().map(|_| Firsts::default()).collect(),
            places: places.into(),
            width,
            row_when_empty: plan.row_when_empty,
            rows: 0,
            most: 0,
            ids: Vec::new(),
            failed: None,
        }
    }

    /// Takes rows in.
    pub fn take_in(&mut self, chunk: &Chunk<'_>, rows: &[u32], ocx: &mut OpCx<'_, '_>) {
        if rows.is_empty() {
            return;
        }
        self.rows += rows.len();
        if self.failed.is_none()
            && let Err(error) = self.try_add(chunk, rows, ocx)
        {
            // the emission is lost: what is there of it may be half done, and is not kept
            let rows = self.rows;
            self.forget();
            self.rows = rows;
            self.failed = Some(error);
        }
    }

    fn try_add(
        &mut self,
        chunk: &Chunk<'_>,
        rows: &[u32],
        ocx: &mut OpCx<'_, '_>,
    ) -> rekuiper_value::Result<()> {
        let known = self.keys.len();
        self.ids.clear();
        self.keys.number(&self.dims, chunk, rows, ocx, &mut self.ids)?;
        let groups = self.keys.len();
        if groups > known {
            self.begin(chunk, rows, known);
            for aggregate in &mut self.aggregates {
                aggregate.grow(groups)?;
            }
        }
        for aggregate in &mut self.aggregates {
            aggregate.add(chunk, rows, &self.ids, ocx)?;
        }
        Ok(())
    }

    /// Keeps the first rows of the groups from number `known` on.
    fn begin(&mut self, chunk: &Chunk<'_>, rows: &[u32], known: usize) {
        let mut next = known as u32;
        for (row, id) in rows.iter().zip(&self.ids) {
            if *id == next {
                next += 1;
                for (place, firsts) in self.places.iter().zip(&mut self.firsts) {
                    firsts.push(chunk.frame.col(*place), *row as usize);
                }
            }
        }
    }

    /// Hands the groups on, one row each, and forgets them.
    pub fn send(
        &mut self,
        emission: Emission,
        stamp: i64,
        ocx: &mut OpCx<'_, '_>,
        next: &mut Next<'_>,
    ) {
        match self.failed.take() {
            Some(error) => next.error(&error, ocx),
            None if self.keys.len() > 0 => self.send_groups(emission, stamp, ocx, next),
            None if self.row_when_empty && self.dims.is_empty() => {
                let nothing = |a: &_| Ok(Column::values(vec![Aggregate::of_nothing(a)?]));
                let results: rekuiper_value::Result<Vec<Column>> =
                    self.aggregates.iter().map(nothing).collect();
                match results {
                    Ok(results) => self.hand_on(&[], &results, 1, emission, stamp, ocx, next),
                    Err(error) => next.error(&error, ocx),
                }
            }
            None => {}
        }
        self.forget();
    }

    fn send_groups(
        &mut self,
        emission: Emission,
        stamp: i64,
        ocx: &mut OpCx<'_, '_>,
        next: &mut Next<'_>,
    ) {
        let groups = self.keys.len();
        let results: rekuiper_value::Result<Vec<Column>> =
            self.aggregates.iter().map(|a| Ok(Column::values(a.finish(groups)?))).collect();
        let results = match results {
            Ok(results) => results,
            Err(error) => return next.error(&error, ocx),
        };
        let firsts: Vec<Column> = self.firsts.iter_mut().map(Firsts::take).collect();
        self.hand_on(&firsts, &results, groups, emission, stamp, ocx, next);
        for (kept, column) in self.firsts.iter_mut().zip(firsts) {
            kept.give_back(column);
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn hand_on(
        &mut self,
        firsts: &[Column],
        results: &[Column],
        groups: usize,
        emission: Emission,
        stamp: i64,
        ocx: &mut OpCx<'_, '_>,
        next: &mut Next<'_>,
    ) {
        let mut frame = spread(&self.places, firsts, self.width, groups);
        for (aggregate, result) in self.aggregates.iter().zip(results) {
            put(&mut frame, aggregate.col, result);
        }
        self.ids.clear();
        self.ids.extend(0..groups as u32);
        let stamps = Stamps::Same(stamp);
        let (sel, source) = (&mut self.ids, Origin::One(0));
        next.push(Chunk { frame, stamps: &stamps, sel, emission, source }, ocx);
    }

    /// Empties everything, and gives memory back where far less would do.
    pub fn forget(&mut self) {
        let groups = self.keys.len();
        self.most = self.most.max(groups);
        let roomy = self.most > SMALL && groups < self.most / ROOMY;
        if roomy {
            self.most = groups;
            self.ids = Vec::new();
        }
        self.keys.clear(roomy);
        self.aggregates.iter_mut().for_each(|a| a.clear(roomy));
        self.firsts.iter_mut().for_each(|f| f.clear(roomy));
        self.rows = 0;
        self.failed = None;
    }

    /// The results over all rows, for a single group; those over nothing where there was no row.
    pub fn results(&self) -> rekuiper_value::Result<Vec<(u16, Value)>> {
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let groups = self.keys.len();
        let one = |a: &Aggregate| match groups {
            0 => a.of_nothing(),
            _ => Ok(a.finish(1)?.into_iter().next().unwrap_or_default()),
        };
        self.aggregates.iter().map(|a| Ok((a.col, one(a)?))).collect()
    }
}

impl Hold for Groups {
    fn add(
        &mut self,
        chunk: &Chunk<'_>,
        rows: &[u32],
        _times: RunTimes<'_>,
        ocx: &mut OpCx<'_, '_>,
    ) {
        self.take_in(chunk, rows, ocx);
    }

    fn emit(
        &mut self,
        _span: Span,
        times: WindowTimes,
        ocx: &mut OpCx<'_, '_>,
        next: &mut Next<'_>,
    ) {
        let stamp = times.end.unwrap_or(ocx.cx.now_ms);
        self.send(Emission::Set(times), stamp, ocx, next);
    }

    /// Sending has emptied it.
    fn keep(&mut self, _stay: Stay) {}

    fn held(&self) -> usize {
        self.rows
    }

    fn save(&self) -> Value {
        let groups = self.keys.len();
        let error = self.failed.as_ref().map_or(Value::Null, |e| Value::from(e.0.as_ref()));
        Value::array(vec![
            Value::array(self.keys.all().map(Value::bytes).collect()),
            Value::array(self.firsts.iter().map(|f| Value::array(f.saved())).collect()),
            Value::array(self.aggregates.iter().map(|a| a.save(groups)).collect()),
            Value::Int(self.rows as i64),
            error,
        ])
    }

    fn load(&mut self, state: &Value) {
        let parts = state.as_array().map(|a| a.as_slice());
        let Some([keys, firsts, aggregates, Value::Int(rows), error]) = parts else { return };
        let list = |v: &Value| v.as_array().map(|a| a.to_vec()).unwrap_or_default();
        let (keys, firsts, aggregates) = (list(keys), list(firsts), list(aggregates));
        if firsts.len() != self.firsts.len() || aggregates.len() != self.aggregates.len() {
            return; // of another plan
        }
        self.forget();
        for key in &keys {
            if let Value::Bytes(key) = key {
                self.keys.restore(key);
            }
        }
        let groups = self.keys.len();
        for (held, saved) in self.firsts.iter_mut().zip(&firsts) {
            let saved = list(saved);
            (0..groups).for_each(|i| held.push_value(saved.get(i).cloned().unwrap_or_default()));
        }
        for (aggregate, saved) in self.aggregates.iter_mut().zip(&aggregates) {
            if aggregate.grow(groups).is_ok() {
                aggregate.load(saved);
            }
        }
        self.rows = usize::try_from(*rows).unwrap_or(0);
        self.failed = error.as_str().map(Error::new);
    }
}
