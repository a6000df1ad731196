//! What is held of the rows of open windows.

use rekuiper_value::Value;

use super::assign::{Room, Span, Stay};
use crate::chunk::WindowTimes;
use crate::{Chunk, Next, OpCx};

mod aggregates;
mod firsts;
pub mod groups;
mod keys;
pub mod overlap;
pub mod rows;
mod running;
mod table;

/// The window times of the rows of a run: none stands before the one before it.
#[derive(Clone, Copy)]
pub enum RunTimes<'a> {
    Same(i64),
    Each(&'a [i64]),
}

impl RunTimes<'_> {
    pub fn at(&self, index: usize) -> i64 {
        match self {
            RunTimes::Same(at) => *at,
            RunTimes::Each(all) => all.get(index).copied().unwrap_or_default(),
        }
    }
}

/// See the module's doc.
pub trait Hold: Send {
    /// How far rows will come before the next emission; asked before each [`add`](Self::add).
    fn before(&mut self, room: &Room) {
        let _ = room;
    }

    /// Takes in rows of a chunk. `times` are those of `rows`, in their order.
    fn add(&mut self, chunk: &Chunk<'_>, rows: &[u32], times: RunTimes<'_>, ocx: &mut OpCx<'_, '_>);

    /// Hands the rows of a window on as a set.
    fn emit(
        &mut self,
        span: Span,
        times: WindowTimes,
        ocx: &mut OpCx<'_, '_>,
        next: &mut Next<'_>,
    );

    fn keep(&mut self, stay: Stay);

    /// Rows held.
    fn held(&self) -> usize;

    fn save(&self) -> Value;
    fn load(&mut self, state: &Value);
}
