//! GROUP BY and aggregates over the rows of a set (or over each single row where there is no
//! window). Groups come in the order of their first rows.
//!
//! Holds nothing between sets. The work is that of windows which keep groups.

use rekuiper_plan::physical::{AggregatePlan, SortKey};

use crate::chunk::Emission;
use crate::frames::Times;
use crate::order::Sorter;
use crate::window::hold::groups::Groups;
use crate::{Chunk, Next, Op, OpCx};

/// See the module's doc.
pub struct Aggregated {
    groups: Groups,
    sort_rows: Option<Sorter>,
}

impl Aggregated {
    /// `keep`: the plain columns that later steps read.
    pub fn new(mut plan: AggregatePlan, keep: Vec<u16>, width: usize) -> Self {
        let keys: Vec<SortKey> = std::mem::take(&mut plan.sort_rows);
        let sort_rows = (!keys.is_empty()).then(|| Sorter::new(keys));
        Aggregated { groups: Groups::new(plan, keep, width), sort_rows }
    }
}

impl Op for Aggregated {
    fn push(&mut self, chunk: Chunk<'_>, ocx: &mut OpCx<'_, '_>, mut next: Next<'_>) {
        if let Emission::Set(times) = chunk.emission {
            if let Some(sorter) = &mut self.sort_rows
                && let Err(error) = sorter.sort(&chunk.frame, Times::of(&chunk), chunk.sel, ocx.cx)
            {
                return next.error(&error, ocx);
            }
            self.groups.take_in(&chunk, chunk.sel, ocx);
            let stamp = times.end.unwrap_or(ocx.cx.now_ms);
            return self.groups.send(chunk.emission, stamp, ocx, &mut next);
        }
        for row in chunk.sel.iter() {
            self.groups.take_in(&chunk, &[*row], ocx);
            let stamp = chunk.stamps.get(*row as usize);
            self.groups.send(chunk.emission, stamp, ocx, &mut next);
        }
    }
}
