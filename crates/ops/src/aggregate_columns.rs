//! Aggregates in WHERE: computed over the whole set; every row gets the result as a column.
//!
//! Holds nothing between sets.

use rekuiper_plan::physical::{AggregateCall, AggregatePlan};
use rekuiper_value::Column;

use crate::frames::put;
use crate::window::hold::groups::Groups;
use crate::{Chunk, Next, Op, OpCx};

/// See the module's doc.
pub struct AggregateColumns(Groups);

impl AggregateColumns {
    pub fn new(calls: Vec<AggregateCall>, width: usize) -> Self {
        let plan = AggregatePlan {
            dimensions: Vec::new(),
            calls,
            row_when_empty: false,
            sort_rows: Vec::new(),
        };
        AggregateColumns(Groups::new(plan, Vec::new(), width))
    }

    fn over(&mut self, chunk: Chunk<'_>, ocx: &mut OpCx<'_, '_>, next: &mut Next<'_>) {
        self.0.take_in(&chunk, chunk.sel, ocx);
        let results = self.0.results();
        self.0.forget();
        let results = match results {
            Ok(results) => results,
            Err(error) => return next.error(&error, ocx),
        };
        let rows = chunk.frame.rows;
        let columns: Vec<(u16, Column)> =
            results.into_iter().map(|(col, value)| (col, Column::constant(value, rows))).collect();
        let Chunk { mut frame, stamps, sel, emission, source } = chunk;
        columns.iter().for_each(|(col, column)| put(&mut frame, *col, column));
        next.push(Chunk { frame, stamps, sel, emission, source }, ocx);
    }
}

impl Op for AggregateColumns {
    fn push(&mut self, chunk: Chunk<'_>, ocx: &mut OpCx<'_, '_>, mut next: Next<'_>) {
        if chunk.emission.is_set() {
            return self.over(chunk, ocx, &mut next);
        }
        for row in chunk.sel.iter() {
            let mut sel = vec![*row];
            let one = Chunk {
                frame: chunk.frame.clone(),
                stamps: chunk.stamps,
                sel: &mut sel,
                emission: chunk.emission,
                source: chunk.source,
            };
            self.over(one, ocx, &mut next);
        }
    }
}
