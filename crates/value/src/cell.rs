//! `Cell`: where in the batch's bytes a field stands, and what is known of it without parsing.
//!
//! Eight bytes a field: offset, and length with the kind in its upper five bits. A scanner makes
//! cells; a number is parsed only when something compares or computes with it, and a field that is
//! projected unchanged is copied from the payload as it stands.

/// What a cell's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum CellKind {
    /// The message has no such field.
    Missing = 0,
    Null,
    False,
    True,
    /// A JSON integer of at most 15 digits written canonically (no leading zero, not `-0`): the
    /// text is its own output form and fits an i64 and a double exactly.
    Int,
    /// A JSON decimal, canonical in the sense that a shortest-digits printer gives the same text.
    Decimal,
    /// Any other valid JSON number; to be parsed and printed anew.
    Number,
    /// The inside of a JSON string that needs neither unescaping on the way in nor escaping on the
    /// way out: valid UTF-8 without `\ " < > &`, controls, U+2028 and U+2029.
    Plain,
    /// The inside of a JSON string, still escaped or in need of escaping.
    Escaped,
    /// JSON text of an array, brackets included. Valid.
    Array,
    /// JSON text of an object, braces included. Valid.
    Object,
    /// Raw text that is no JSON string (an MQTT topic, a delimited column): escaped on output.
    Text,
    /// Raw bytes (`FORMAT="binary"`): base64 in JSON.
    Bytes,
}

const KINDS: [CellKind; 13] = [
    CellKind::Missing,
    CellKind::Null,
    CellKind::False,
    CellKind::True,
    CellKind::Int,
    CellKind::Decimal,
    CellKind::Number,
    CellKind::Plain,
    CellKind::Escaped,
    CellKind::Array,
    CellKind::Object,
    CellKind::Text,
    CellKind::Bytes,
];

/// See the module's doc.
#[derive(Clone, Copy, Default)]
pub struct Cell {
    off: u32,
    len_kind: u32,
}

/// Longest field a cell can name; a longer one is carried as a `Value`.
pub const CELL_LEN_MAX: usize = (1 << 27) - 1;

impl Cell {
    pub const MISSING: Cell = Cell { off: 0, len_kind: 0 };

    /// `len` must be at most [`CELL_LEN_MAX`] and `off` fit 32 bits (batches are far smaller).
    #[inline(always)]
    pub fn new(kind: CellKind, off: usize, len: usize) -> Self {
        debug_assert!(len <= CELL_LEN_MAX && off <= u32::MAX as usize);
        Cell { off: off as u32, len_kind: (len as u32 & 0x07ff_ffff) | ((kind as u32) << 27) }
    }

    #[inline(always)]
    pub fn kind(self) -> CellKind {
        let index = (self.len_kind >> 27) as usize;
        if index < KINDS.len() { KINDS[index] } else { CellKind::Missing }
    }

    #[inline(always)]
    pub fn off(self) -> usize {
        self.off as usize
    }

    #[inline(always)]
    pub fn len(self) -> usize {
        (self.len_kind & 0x07ff_ffff) as usize
    }

    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The cell's bytes within the batch's buffer; empty when the cell does not fit it.
    #[inline(always)]
    pub fn slice(self, bytes: &[u8]) -> &[u8] {
        bytes.get(self.off()..self.off() + self.len()).unwrap_or(&[])
    }
}

impl std::fmt::Debug for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}@{}+{}", self.kind(), self.off(), self.len())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kind_offset_and_length_come_back() {
        for kind in KINDS {
            let cell = Cell::new(kind, 123_456, 789);
            assert_eq!((cell.kind(), cell.off(), cell.len()), (kind, 123_456, 789));
        }
        assert_eq!(size_of::<Cell>(), 8);
        assert_eq!(Cell::MISSING.kind(), CellKind::Missing);
    }
}
