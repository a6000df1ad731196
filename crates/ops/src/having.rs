//! HAVING: keeps the groups (or rows) of a set for which a condition is true. A set of which
//! nothing is left, and an empty one, is no result. An error loses the result. Holds nothing.

use rekuiper_expr::Expr;

use crate::filter::Condition;
use crate::{Chunk, Next, Op, OpCx};

/// See the module's doc.
pub struct Having(Condition);

impl Having {
    pub fn new(condition: Expr) -> Self {
        Having(Condition::new(condition))
    }
}

impl Op for Having {
    fn push(&mut self, mut chunk: Chunk<'_>, ocx: &mut OpCx<'_, '_>, mut next: Next<'_>) {
        let set = chunk.emission.is_set();
        let mut errors = Vec::new();
        self.0.select(&mut chunk, ocx, &mut |_, e| errors.push(e));
        if let (true, Some(first)) = (set, errors.first()) {
            return next.error(first, ocx);
        }
        errors.iter().for_each(|e| next.error(e, ocx));
        if !chunk.sel.is_empty() {
            next.push(chunk, ocx);
        }
    }
}
