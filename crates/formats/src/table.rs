//! The rows of a batch while it is being decoded: a column for each slot, the whole rows, which
//! message each row came from, and the errors met.

use bytes::Bytes;
use rekuiper_value::{Cell, Column, Error, Value, column};

/// A column under construction.
#[derive(Clone, Debug)]
pub enum Build {
    Cells(Vec<Cell>),
    Values(Vec<Value>),
    /// As the source had it.
    Column(Column),
}

impl Build {
    pub fn value(&self, row: usize, bytes: &[u8], ints: bool) -> Value {
        match self {
            Build::Cells(cells) => match cells.get(row) {
                Some(cell) => column::cell_value(*cell, bytes, ints),
                None => Value::Missing,
            },
            Build::Values(values) => values.get(row).cloned().unwrap_or_default(),
            Build::Column(column) => column.value(row),
        }
    }

    pub fn truncate(&mut self, rows: usize) {
        match self {
            Build::Cells(cells) => cells.truncate(rows),
            Build::Values(values) => values.truncate(rows),
            Build::Column(column) => *column = column.rows(0..rows),
        }
    }

    fn keep(&mut self, keep: &[bool]) {
        let mut row = 0;
        let mut next = || {
            row += 1;
            keep.get(row - 1).copied().unwrap_or(true)
        };
        match self {
            Build::Cells(cells) => cells.retain(|_| next()),
            Build::Values(values) => values.retain(|_| next()),
            Build::Column(column) => {
                let kept = (0..column.len()).filter(|_| next()).map(|row| column.value(row));
                *self = Build::Values(kept.collect());
            }
        }
    }

    fn into_column(self, bytes: &Bytes, ints: bool) -> Column {
        match self {
            Build::Cells(cells) => Column::cells(bytes.clone(), cells, ints),
            Build::Values(values) => Column::values(values),
            Build::Column(column) => column,
        }
    }
}

/// See the module's doc.
#[derive(Debug)]
pub struct Table {
    pub bytes: Bytes,
    /// One a slot.
    pub slots: Vec<Build>,
    /// Which slots hold declared integers.
    pub ints: Vec<bool>,
    pub whole: Option<Build>,
    /// The message that each row came from.
    pub row_msgs: Vec<u32>,
    /// Before which row, and what.
    pub errors: Vec<(u32, Error)>,
}

impl Table {
    pub fn new(bytes: Bytes, slots: usize, whole: bool, rows: usize) -> Self {
        Table {
            bytes,
            slots: (0..slots).map(|_| Build::Cells(Vec::with_capacity(rows))).collect(),
            ints: vec![false; slots],
            whole: whole.then(|| Build::Cells(Vec::with_capacity(rows))),
            row_msgs: Vec::with_capacity(rows),
            errors: Vec::new(),
        }
    }

    pub fn rows(&self) -> usize {
        self.row_msgs.len()
    }

    /// Takes back the rows from `rows` on.
    #[cold]
    pub fn truncate(&mut self, rows: usize) {
        for build in self.slots.iter_mut().chain(self.whole.as_mut()) {
            build.truncate(rows);
        }
        self.row_msgs.truncate(rows);
    }

    pub fn value(&self, slot: usize, row: usize) -> Value {
        match self.slots.get(slot) {
            Some(build) => build.value(row, &self.bytes, self.ints[slot]),
            None => Value::Missing,
        }
    }

    /// Drops rows for which an error was found after they had been read: the row alone, or all rows
    /// of its message. Where a row has several errors the last one is reported.
    #[cold]
    pub fn reject(&mut self, bad: Vec<(usize, Error)>, whole_message: bool) {
        let mut keep = vec![true; self.rows()];
        let mut faults: Vec<Option<Error>> = vec![None; self.rows()];
        for (row, error) in bad {
            let Some(&msg) = self.row_msgs.get(row) else { continue };
            let first =
                if whole_message { self.row_msgs.partition_point(|m| *m < msg) } else { row };
            let mut at = first;
            while self.row_msgs.get(at) == Some(&msg) && (whole_message || at == row) {
                keep[at] = false;
                at += 1;
            }
            faults[first] = Some(error);
        }
        let mut errors = Vec::new();
        let mut old = std::mem::take(&mut self.errors).into_iter().peekable();
        let mut kept = 0;
        for (row, fault) in faults.into_iter().enumerate() {
            while let Some((_, error)) = old.next_if(|(at, _)| *at as usize <= row) {
                errors.push((kept, error));
            }
            if let Some(error) = fault {
                errors.push((kept, error));
            }
            kept += u32::from(keep[row]);
        }
        errors.extend(old.map(|(_, error)| (kept, error)));
        self.errors = errors;
        for build in self.slots.iter_mut().chain(self.whole.as_mut()) {
            build.keep(&keep);
        }
        let mut at = 0;
        self.row_msgs.retain(|_| {
            at += 1;
            keep[at - 1]
        });
    }

    /// The slots' columns.
    pub fn finish(self) -> (Vec<Column>, Option<Column>, Vec<(u32, Error)>) {
        let bytes = self.bytes;
        let columns = self
            .slots
            .into_iter()
            .zip(self.ints)
            .map(|(build, ints)| build.into_column(&bytes, ints))
            .collect();
        let whole = self.whole.map(|build| build.into_column(&bytes, false));
        (columns, whole, self.errors)
    }
}
