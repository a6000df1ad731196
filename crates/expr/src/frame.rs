//! What an expression is evaluated over.

use rekuiper_functions::Cx;
use rekuiper_value::{Column, Value};
use smallvec::SmallVec;

/// The columns of the rows at hand, by reference: a source's own columns first, then those that
/// operators computed. Made per rule and batch on the stack.
#[derive(Clone, Default)]
pub struct Frame<'a> {
    pub cols: SmallVec<[&'a Column; 12]>,
    pub rows: usize,
}

impl<'a> Frame<'a> {
    pub fn new(cols: impl IntoIterator<Item = &'a Column>, rows: usize) -> Self {
        Frame { cols: cols.into_iter().collect(), rows }
    }

    #[inline]
    pub fn col(&self, index: u16) -> Option<&'a Column> {
        self.cols.get(usize::from(index)).copied()
    }

    pub fn value(&self, index: u16, row: usize) -> Value {
        self.col(index).map(|c| c.value(row)).unwrap_or_default()
    }
}

/// Frame and context together.
#[derive(Clone, Copy)]
pub struct Env<'a> {
    pub frame: &'a Frame<'a>,
    pub cx: &'a Cx<'a>,
}
