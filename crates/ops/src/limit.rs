//! LIMIT: the first rows of a set. LIMIT 0 sends nothing. Single rows are results of their own, so
//! a limit of one or more lets all pass. Holds nothing.

use crate::{Chunk, Next, Op, OpCx};

/// See the module's doc.
pub struct Limit(pub usize);

impl Op for Limit {
    fn push(&mut self, chunk: Chunk<'_>, ocx: &mut OpCx<'_, '_>, mut next: Next<'_>) {
        if self.0 == 0 {
            return;
        }
        if chunk.emission.is_set() {
            chunk.sel.truncate(self.0);
        }
        next.push(chunk, ocx);
    }
}
