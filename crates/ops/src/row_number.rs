//! row_number(): the number of each row in its set, from 1; with PARTITION BY and ORDER BY the
//! number within its partition in that order. A single row is number 1. Holds nothing.

use hashbrown::HashMap;
use rekuiper_plan::physical::RowNumberPlan;
use rekuiper_value::{Column, Result, Value};

use crate::frames::{RowExpr, Times, put};
use crate::key::KeyBuf;
use crate::order::Sorter;
use crate::{Chunk, Next, Op, OpCx};

/// See the module's doc.
pub struct RowNumber {
    col: u16,
    partition: Box<[RowExpr]>,
    order: Option<Sorter>,
}

impl RowNumber {
    pub fn new(plan: RowNumberPlan) -> Self {
        RowNumber {
            col: plan.col,
            partition: RowExpr::list(plan.partition),
            order: (!plan.order.is_empty()).then(|| Sorter::new(plan.order)),
        }
    }

    fn numbers(&self, chunk: &Chunk<'_>, ocx: &mut OpCx<'_, '_>) -> Result<Vec<Value>> {
        let times = Times::of(chunk);
        let mut numbers = vec![Value::Missing; chunk.frame.rows];
        let mut sorted = chunk.sel.clone();
        if let Some(order) = &self.order {
            order.sort(&chunk.frame, times, &mut sorted, ocx.cx)?;
        }
        let mut counts: HashMap<Vec<u8>, i64, ahash::RandomState> = HashMap::default();
        let mut key = KeyBuf::default();
        for row in sorted {
            key.clear();
            for expr in self.partition.iter() {
                key.push(&expr.eval(&chunk.frame, times, row as usize, ocx.cx)?);
            }
            let count = counts.entry_ref(key.bytes()).or_insert(0);
            *count += 1;
            if let Some(slot) = numbers.get_mut(row as usize) {
                *slot = Value::Int(*count);
            }
        }
        Ok(numbers)
    }
}

impl Op for RowNumber {
    fn push(&mut self, chunk: Chunk<'_>, ocx: &mut OpCx<'_, '_>, mut next: Next<'_>) {
        let column = if chunk.emission.is_set() {
            match self.numbers(&chunk, ocx) {
                Ok(numbers) => Column::values(numbers),
                Err(error) => return next.error(&error, ocx),
            }
        } else {
            Column::constant(Value::Int(1), chunk.frame.rows)
        };
        let Chunk { mut frame, stamps, sel, emission, source } = chunk;
        put(&mut frame, self.col, &column);
        next.push(Chunk { frame, stamps, sel, emission, source }, ocx);
    }
}
