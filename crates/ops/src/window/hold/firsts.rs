//! Plain columns beside aggregates: the value of each group's first row, kept as the payload's own
//! bytes where it can be.

use bytes::{Bytes, BytesMut};
use rekuiper_value::{Cell, Column, Value, column};

/// One column over all groups.
pub struct Firsts(Store);

enum Store {
    Cells { bytes: Vec<u8>, cells: Vec<Cell>, ints: bool },
    Values(Vec<Value>),
}

impl Default for Firsts {
    fn default() -> Self {
        Firsts(Store::Cells { bytes: Vec::new(), cells: Vec::new(), ints: false })
    }
}

impl Firsts {
    /// A new group begins with this row.
    pub fn push(&mut self, from: Option<&Column>, row: usize) {
        if let Store::Cells { bytes, cells, ints } = &mut self.0 {
            let given = from.and_then(|c| c.as_cells().map(|found| (c, found)));
            if let Some((column, (found, text))) = given
                && (cells.is_empty() || *ints == column.is_ints())
            {
                let cell = found.get(row).copied().unwrap_or_default();
                let text = cell.slice(text);
                if u32::try_from(bytes.len() + text.len()).is_ok() {
                    *ints = column.is_ints();
                    cells.push(Cell::new(cell.kind(), bytes.len(), text.len()));
                    bytes.extend_from_slice(text);
                    return;
                }
            }
        }
        self.values().push(from.map(|c| c.value(row)).unwrap_or_default());
    }

    /// Holds values from now on.
    fn values(&mut self) -> &mut Vec<Value> {
        if let Store::Cells { bytes, cells, ints } = &self.0 {
            let value = |cell: &Cell| column::cell_value(*cell, bytes, *ints);
            self.0 = Store::Values(cells.iter().map(value).collect());
        }
        match &mut self.0 {
            Store::Values(values) => values,
            Store::Cells { .. } => unreachable!("made into values above"),
        }
    }

    pub fn push_value(&mut self, value: Value) {
        self.values().push(value);
    }

    /// The values as a column. [`give_back`](Self::give_back) it when it has been read.
    pub fn take(&mut self) -> Column {
        match std::mem::take(self).0 {
            Store::Cells { bytes, cells, ints } => Column::cells(Bytes::from(bytes), cells, ints),
            Store::Values(values) => Column::values(values),
        }
    }

    /// Keeps the memory of a column for the next groups.
    pub fn give_back(&mut self, column: Column) {
        if let Some((bytes, mut cells)) = column.into_cells() {
            let bytes = bytes.try_into_mut().map(|b: BytesMut| Vec::from(b));
            let mut bytes = bytes.unwrap_or_default();
            bytes.clear();
            cells.clear();
            self.0 = Store::Cells { bytes, cells, ints: false };
        }
    }

    pub fn clear(&mut self, roomy: bool) {
        match &mut self.0 {
            Store::Cells { bytes, cells, .. } if !roomy => {
                bytes.clear();
                cells.clear();
            }
            _ => *self = Firsts::default(),
        }
    }

    pub fn saved(&self) -> Vec<Value> {
        match &self.0 {
            Store::Values(values) => values.clone(),
            Store::Cells { bytes, cells, ints } => {
                cells.iter().map(|c| column::cell_value(*c, bytes, *ints)).collect()
            }
        }
    }
}
