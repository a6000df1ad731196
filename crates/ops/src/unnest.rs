//! unnest and extract: as many rows as a value has elements. Null, an empty array, and anything but
//! an array make no row. Holds nothing.

use rekuiper_functions::multi::{Unnested, unnest_rows};
use rekuiper_plan::physical::UnnestPlan;
use rekuiper_value::batch::Stamps;
use rekuiper_value::{Column, Value};

use crate::chunk::Origin;
use crate::frames::{RowExpr, Times, gather, put, spread};
use crate::{Chunk, Next, Op, OpCx};

/// See the module's doc.
pub struct Unnest {
    expr: RowExpr,
    col: u16,
    limit: usize,
    /// Columns that later steps read.
    after: Vec<u16>,
    width: usize,
}

impl Unnest {
    pub fn new(plan: UnnestPlan, mut after: Vec<u16>, width: usize) -> Self {
        after.retain(|col| *col != plan.col);
        let limit = plan.limit.unwrap_or(usize::MAX);
        Unnest { expr: RowExpr::new(plan.expr), col: plan.col, limit, after, width }
    }
}

impl Op for Unnest {
    fn push(&mut self, chunk: Chunk<'_>, ocx: &mut OpCx<'_, '_>, mut next: Next<'_>) {
        let set = chunk.emission.is_set();
        let times = Times::of(&chunk);
        let (mut from, mut elements) = (Vec::new(), Vec::new());
        for row in chunk.sel.iter() {
            let value = match self.expr.eval(&chunk.frame, times, *row as usize, ocx.cx) {
                Ok(value) => value,
                Err(error) => {
                    next.error(&error, ocx);
                    if set {
                        return;
                    }
                    continue;
                }
            };
            // a limit is one of rows of a result; single rows each are a result
            let room = if set { self.limit.saturating_sub(from.len()) } else { self.limit };
            for element in unnest_rows(&value).take(room) {
                from.push(*row);
                elements.push(match element {
                    Unnested::Columns(members) => Value::Object(members),
                    Unnested::Item(value) => value,
                });
            }
        }
        if from.is_empty() {
            return;
        }
        let rows = from.len();
        let columns = gather(&chunk.frame, &self.after, &from);
        let elements = Column::values(elements);
        let mut frame = spread(&self.after, &columns, self.width, rows);
        put(&mut frame, self.col, &elements);
        let stamps = Stamps::Each(from.iter().map(|r| chunk.stamps.get(*r as usize)).collect());
        let mut sel: Vec<u32> = (0..rows as u32).collect();
        let (emission, source) = (chunk.emission, Origin::One(0));
        next.push(Chunk { frame, stamps: &stamps, sel: &mut sel, emission, source }, ocx);
    }
}
