//! Joined rows as numbers: for each source the row that is in, or none.

use std::ops::Range;

use rekuiper_expr::Frame;
use rekuiper_value::{Column, Value};

use crate::Chunk;

/// No row of that source.
pub const NONE: u32 = u32::MAX;

/// See the module's doc.
pub struct Tuples {
    sources: usize,
    rows: Vec<u32>,
}

impl Tuples {
    pub fn new(sources: usize) -> Self {
        Tuples { sources: sources.max(1), rows: Vec::new() }
    }

    /// Each row of one source alone.
    pub fn of(sources: usize, source: usize, rows: &[u32]) -> Self {
        let mut tuples = Tuples::new(sources);
        rows.iter().for_each(|row| tuples.push_alone(source, *row));
        tuples
    }

    pub fn len(&self) -> usize {
        self.rows.len() / self.sources
    }

    pub fn get(&self, at: usize, source: usize) -> u32 {
        self.rows.get(at * self.sources + source).copied().unwrap_or(NONE)
    }

    pub fn push_alone(&mut self, source: usize, row: u32) {
        let at = self.rows.len();
        self.rows.resize(at + self.sources, NONE);
        if let Some(slot) = self.rows.get_mut(at + source) {
            *slot = row;
        }
    }

    /// A tuple of `left` with a row of another source.
    pub fn push_joined(&mut self, left: &Tuples, at: usize, source: usize, row: u32) {
        let from = at * self.sources;
        let to = self.rows.len();
        self.rows.extend_from_slice(&left.rows[from..from + self.sources]);
        if let Some(slot) = self.rows.get_mut(to + source) {
            *slot = row;
        }
    }

    /// Of the tuples from `start` on, keeps those that fit.
    pub fn keep_from(&mut self, start: usize, fits: &[bool]) {
        let n = self.sources;
        let mut to = start * n;
        for (at, fit) in fits.iter().enumerate() {
            if *fit {
                let from = (start + at) * n;
                self.rows.copy_within(from..from + n, to);
                to += n;
            }
        }
        self.rows.truncate(to);
    }

    /// The end of the run of tuples that have the same row of the first source as `at`.
    pub fn run(&self, at: usize) -> usize {
        let row = self.get(at, 0);
        if row == NONE {
            return self.len();
        }
        (at..self.len()).find(|i| self.get(*i, 0) != row).unwrap_or(self.len())
    }
}

/// Where the rows of all sources are.
pub struct Pool<'a> {
    pub chunk: &'a Chunk<'a>,
    /// The chunk's rows that take part.
    pub sel: &'a [u32],
    pub tables: &'a [Option<Frame<'a>>],
    /// The rows of each table that are held.
    pub retained: Vec<Option<Range<usize>>>,
    pub owners: &'a [Option<usize>],
}

impl Pool<'_> {
    /// The rows of a source, in their order.
    pub fn rows(&self, source: usize) -> Vec<u32> {
        match self.retained.get(source) {
            Some(Some(held)) => held.clone().map(|r| r as u32).collect(),
            _ => {
                let own = |row: &u32| self.chunk.source.of(*row) == source;
                self.sel.iter().copied().filter(own).collect()
            }
        }
    }

    /// Columns over tuples.
    pub fn columns(&self, cols: &[u16], tuples: &Tuples, range: Range<usize>) -> Vec<Column> {
        let column = |col: &u16| {
            let value = |at: usize| match self.owners.get(usize::from(*col)).copied().flatten() {
                Some(source) => self.value(*col, source, tuples.get(at, source)),
                // computed before the join: it is there for the rows of the source it reads
                None => (0..tuples.sources)
                    .map(|source| self.value(*col, source, tuples.get(at, source)))
                    .find(|v| !v.is_missing())
                    .unwrap_or_default(),
            };
            Column::values(range.clone().map(value).collect())
        };
        cols.iter().map(column).collect()
    }

    fn value(&self, col: u16, source: usize, row: u32) -> Value {
        if row == NONE {
            return Value::Missing;
        }
        match self.tables.get(source) {
            Some(Some(table)) => table.value(col, row as usize),
            _ => self.chunk.frame.value(col, row as usize),
        }
    }

    /// The time of the first stream row in a tuple.
    pub fn stamp(&self, tuples: &Tuples, at: usize) -> i64 {
        let streams = (0..tuples.sources).filter(|s| !matches!(self.tables.get(*s), Some(Some(_))));
        let row = streams.map(|s| tuples.get(at, s)).find(|row| *row != NONE);
        row.map_or(0, |row| self.chunk.stamps.get(row as usize))
    }
}
