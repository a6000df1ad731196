//! ORDER BY within a set. Nulls come last in either direction; text goes by bytes; numbers of all
//! kinds compare by value; other kinds, and kinds that differ, lose the result. Single rows pass as
//! they are. Holds nothing.

use std::cmp::Ordering;

use rekuiper_expr::{Frame, compare};
use rekuiper_functions::Cx;
use rekuiper_plan::physical::SortKey;
use rekuiper_value::{Error, Result, Value};

use crate::frames::{RowExpr, Times};
use crate::{Chunk, Next, Op, OpCx};

/// Sorts a selection by keys; rows that are equal in all of them keep their order.
pub struct Sorter {
    keys: Vec<(RowExpr, bool)>,
}

impl Sorter {
    pub fn new(keys: Vec<SortKey>) -> Self {
        Sorter { keys: keys.into_iter().map(|k| (RowExpr::new(k.expr), k.desc)).collect() }
    }

    pub fn sort(
        &self,
        frame: &Frame<'_>,
        times: Times<'_>,
        sel: &mut [u32],
        cx: &mut Cx<'_>,
    ) -> Result<()> {
        let mut rows: Vec<(Vec<Value>, u32)> = Vec::with_capacity(sel.len());
        for row in sel.iter() {
            let mut values = Vec::with_capacity(self.keys.len());
            for (expr, _) in &self.keys {
                values.push(expr.eval(frame, times, *row as usize, cx)?);
            }
            rows.push((values, *row));
        }
        let mut failed = None;
        rows.sort_by(|a, b| {
            for ((left, right), (_, desc)) in a.0.iter().zip(&b.0).zip(&self.keys) {
                match order(left, right, *desc) {
                    Ok(Ordering::Equal) => {}
                    Ok(other) => return other,
                    Err(error) => {
                        failed.get_or_insert(error);
                        return Ordering::Equal;
                    }
                }
            }
            Ordering::Equal
        });
        if let Some(error) = failed {
            return Err(error);
        }
        for (slot, (_, row)) in sel.iter_mut().zip(rows) {
            *slot = row;
        }
        Ok(())
    }
}

fn order(left: &Value, right: &Value, desc: bool) -> Result<Ordering> {
    let found = match (left, right) {
        (l, r) if l.is_null() || r.is_null() => return Ok(l.is_null().cmp(&r.is_null())),
        (Value::Bool(_), Value::Bool(_)) => Ordering::Equal, // booleans have no order
        (l, r) => match compare::order(l, r, "<") {
            Ok(order) => order.unwrap_or(Ordering::Equal),
            Err(_) => {
                let (l, r) = (l.kind_name(), r.kind_name());
                return Err(Error::new(format!("cannot order a {l} and a {r}")));
            }
        },
    };
    Ok(if desc { found.reverse() } else { found })
}

/// See the module's doc.
pub struct Order(Sorter);

impl Order {
    pub fn new(keys: Vec<SortKey>) -> Self {
        Order(Sorter::new(keys))
    }
}

impl Op for Order {
    fn push(&mut self, chunk: Chunk<'_>, ocx: &mut OpCx<'_, '_>, mut next: Next<'_>) {
        if chunk.emission.is_set()
            && let Err(error) = self.0.sort(&chunk.frame, Times::of(&chunk), chunk.sel, ocx.cx)
        {
            return next.error(&error, ocx);
        }
        next.push(chunk, ocx);
    }
}
