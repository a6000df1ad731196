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

impl Emission {
    pub fn is_set(self) -> bool {
        matches!(self, Emission::Set(_))
    }
}

/// Unix milliseconds of the window that a set came from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowTimes {
    pub start: Option<i64>,
    pub end: Option<i64>,
    pub trigger: Option<i64>,
}

/// Which source of the rule (index in `RulePlan::sources`) rows came from.
#[derive(Clone, Copy, Debug)]
pub enum Origin<'a> {
    /// All rows of the frame from this one. After a join: meaningless.
    One(usize),
    /// One source for each row of the frame.
    Each(&'a [u16]),
}

impl Origin<'_> {
    pub fn of(&self, row: u32) -> usize {
        match self {
            Origin::One(source) => *source,
            Origin::Each(all) => all.get(row as usize).map_or(0, |s| usize::from(*s)),
        }
    }
}

/// See the module's doc.
pub struct Chunk<'a> {
    pub frame: Frame<'a>,
    /// Event time, or arrival, of each row of the frame.
    pub stamps: &'a Stamps,
    /// The rows that are still in, in their order.
    pub sel: &'a mut Vec<u32>,
    pub emission: Emission,
    pub source: Origin<'a>,
}
