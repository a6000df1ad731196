//! `Chunk`: rows on their way through a rule, by reference.

use rekuiper_expr::Frame;
use rekuiper_value::batch::Stamps;

/// How the rows of a chunk leave the rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Emission {
    /// Every row is a result of its own.
    Rows,
    /// All rows together are one result: what a window gave.
    Set(WindowTimes),
}

/// Unix milliseconds of the window that a set came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowTimes {
    pub start: Option<i64>,
    pub end: Option<i64>,
    pub trigger: Option<i64>,
}

/// See the module's doc.
pub struct Chunk<'a> {
    pub frame: Frame<'a>,
    /// Event time, or arrival, of each row of the frame.
    pub stamps: &'a Stamps,
    /// The rows that are still in, in their order.
    pub sel: &'a mut Vec<u32>,
    pub emission: Emission,
    /// Which source of the rule they came from; meaningless after a join.
    pub source: usize,
}
