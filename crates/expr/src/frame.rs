//! What an expression is evaluated over.

use rekuiper_functions::Cx;
use rekuiper_value::{Column, Value};

/// How many columns a frame holds without asking for memory.
const FEW: usize = 12;

/// The columns of the rows at hand, by reference: a source's own columns first, then those that
/// operators computed. Made per rule and batch on the stack.
#[derive(Clone, Default)]
pub struct Frame<'a> {
    // by hand and not a SmallVec, whose lifetimes would not shrink: an Env borrows a frame for
    // less long than the frame borrows its columns
    few: [Option<&'a Column>; FEW],
    more: Vec<&'a Column>,
    len: usize,
    pub rows: usize,
}

impl<'a> Frame<'a> {
    pub fn new(cols: impl IntoIterator<Item = &'a Column>, rows: usize) -> Self {
        let mut frame = Frame {
            rows,
            ..Frame::default()
        };
        cols.into_iter().for_each(|c| frame.push(c));
        frame
    }

    /// One more column, behind the others.
    pub fn push(&mut self, column: &'a Column) {
        match self.few.get_mut(self.len) {
            Some(place) => *place = Some(column),
            None => self.more.push(column),
        }
        self.len += 1;
    }

    /// Puts a column in the place of another; nothing happens beyond the last one.
    pub fn replace(&mut self, index: u16, column: &'a Column) {
        let index = usize::from(index);
        if index < self.len {
            match self.few.get_mut(index) {
                Some(place) => *place = Some(column),
                None => self.more[index - FEW] = column,
            }
        }
    }

    /// How many columns there are.
    pub fn width(&self) -> usize {
        self.len
    }

    /// All columns in their order.
    pub fn columns(&self) -> impl Iterator<Item = &'a Column> + '_ {
        self.few
            .iter()
            .flatten()
            .copied()
            .chain(self.more.iter().copied())
    }

    #[inline]
    pub fn col(&self, index: u16) -> Option<&'a Column> {
        let index = usize::from(index);
        match self.few.get(index) {
            Some(place) => *place,
            None => self.more.get(index - FEW).copied(),
        }
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
