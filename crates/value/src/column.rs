//! `Column`: one field of all rows of a batch, as cells into the payload or as values.

use std::sync::OnceLock;

use bytes::Bytes;

use crate::{Cell, CellKind, Result, Str, Value, json, number};

/// How the rows of a column are held.
#[derive(Clone, Debug)]
pub enum Repr {
    /// One cell a row into the column's bytes.
    Cells(Vec<Cell>),
    /// One value a row.
    Values(Vec<Value>),
    /// The same value in every row (metadata of a file, a literal).
    Const(Value, usize),
    /// A double in every row: sources that hold numbers, not text.
    Floats(Vec<f64>),
    /// A whole number in every row.
    Ints(Vec<i64>),
}

/// A column's numbers, read once however many expressions and rules want them.
#[derive(Clone, Debug)]
pub struct Nums {
    /// The number of each row; 0.0 where `plain` says otherwise.
    pub vals: Vec<f64>,
    /// Every row is a number that a double holds exactly. Only then may a kernel use `vals` alone.
    pub all_plain: bool,
    /// Where not all rows are plain: which are. Empty when `all_plain`.
    pub plain: Vec<bool>,
}

/// The output form of a row, once made.
type RowText = OnceLock<Box<[u8]>>;

/// See the module's doc. Columns carry the bytes that their cells point into.
#[derive(Clone, Debug)]
pub struct Column {
    bytes: Bytes,
    repr: Repr,
    /// Declared BIGINT: whole numbers are `Int`. Else numbers are doubles.
    ints: bool,
    nums: OnceLock<Nums>,
    /// The output form of objects and arrays, made for the first rule that writes a row and copied
    /// for all others: `SELECT *` of a thousand rules parses a payload once.
    texts: OnceLock<Box<[RowText]>>,
}

impl Column {
    pub fn cells(bytes: Bytes, cells: Vec<Cell>, ints: bool) -> Self {
        Column { bytes, ..Self::of(Repr::Cells(cells), ints) }
    }

    pub fn values(values: Vec<Value>) -> Self {
        Self::of(Repr::Values(values), false)
    }

    pub fn constant(value: Value, rows: usize) -> Self {
        Self::of(Repr::Const(value, rows), false)
    }

    /// Doubles, one a row; they must be finite or they are seen as what they are.
    pub fn floats(floats: Vec<f64>) -> Self {
        Self::of(Repr::Floats(floats), false)
    }

    /// Whole numbers, one a row.
    pub fn whole_numbers(ints: Vec<i64>) -> Self {
        Self::of(Repr::Ints(ints), true)
    }

    fn of(repr: Repr, ints: bool) -> Self {
        let (nums, texts) = (OnceLock::new(), OnceLock::new());
        Column { bytes: Bytes::new(), repr, ints, nums, texts }
    }

    /// A column no rule reads any more, or that the format cannot give.
    pub fn missing(rows: usize) -> Self {
        Self::constant(Value::Missing, rows)
    }

    pub fn len(&self) -> usize {
        match &self.repr {
            Repr::Cells(c) => c.len(),
            Repr::Values(v) => v.len(),
            Repr::Const(_, n) => *n,
            Repr::Floats(f) => f.len(),
            Repr::Ints(i) => i.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn repr(&self) -> &Repr {
        &self.repr
    }

    /// Declared BIGINT.
    pub fn is_ints(&self) -> bool {
        self.ints
    }

    /// Whether every row is a plain double: numbers as text of a column that is not declared
    /// BIGINT, or doubles as such.
    pub fn is_doubles(&self) -> bool {
        let held = matches!(self.repr, Repr::Cells(_) | Repr::Floats(_));
        held && !self.ints && self.nums().all_plain
    }

    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// The cells and the bytes they point into, where the column is held so.
    #[inline]
    pub fn as_cells(&self) -> Option<(&[Cell], &[u8])> {
        match &self.repr {
            Repr::Cells(cells) => Some((cells, &self.bytes)),
            _ => None,
        }
    }

    /// The value of a row; `Missing` beyond the end.
    pub fn value(&self, row: usize) -> Value {
        match &self.repr {
            Repr::Cells(cells) => match cells.get(row) {
                Some(cell) => cell_value(*cell, &self.bytes, self.ints),
                None => Value::Missing,
            },
            Repr::Values(values) => values.get(row).cloned().unwrap_or_default(),
            Repr::Const(value, _) => value.clone(),
            Repr::Floats(f) => f.get(row).map_or(Value::Missing, |f| Value::Float(*f)),
            Repr::Ints(i) => i.get(row).map_or(Value::Missing, |i| Value::Int(*i)),
        }
    }

    /// The values, to be added to or taken from; numbers read before are forgotten. `None` where
    /// the column is held otherwise.
    pub fn values_mut(&mut self) -> Option<&mut Vec<Value>> {
        self.nums = OnceLock::new();
        self.texts = OnceLock::new();
        match &mut self.repr {
            Repr::Values(values) => Some(values),
            _ => None,
        }
    }

    /// Takes a column of cells apart, so that its memory can be used again.
    pub fn into_cells(self) -> Option<(Bytes, Vec<Cell>)> {
        match self.repr {
            Repr::Cells(cells) => Some((self.bytes, cells)),
            _ => None,
        }
    }

    /// Some of the rows, as a column of their own; rows beyond the end are not in it.
    pub fn rows(&self, range: std::ops::Range<usize>) -> Column {
        fn cut<T: Clone>(all: &[T], range: std::ops::Range<usize>) -> Vec<T> {
            let to = range.end.min(all.len());
            all.get(range.start..to).unwrap_or_default().to_vec()
        }
        let repr = match &self.repr {
            Repr::Cells(cells) => Repr::Cells(cut(cells, range)),
            Repr::Values(values) => Repr::Values(cut(values, range)),
            Repr::Const(value, n) => {
                Repr::Const(value.clone(), range.end.min(*n).saturating_sub(range.start))
            }
            Repr::Floats(floats) => Repr::Floats(cut(floats, range)),
            Repr::Ints(ints) => Repr::Ints(cut(ints, range)),
        };
        Column { bytes: self.bytes.clone(), ..Self::of(repr, self.ints) }
    }

    /// The rows `sel` as a column of their own, where every one of them has a value (neither
    /// missing nor null) and costs no more than a copy; else `None`.
    pub fn gather(&self, sel: &[u32]) -> Option<Column> {
        fn pick<T: Copy>(all: &[T], sel: &[u32]) -> Option<Vec<T>> {
            // asked once, so that the copying needs no branch
            let most = sel.iter().copied().max().map_or(0, |row| row as usize + 1);
            let all = all.get(..most.min(all.len())).filter(|all| all.len() == most)?;
            Some(sel.iter().map(|row| all[*row as usize]).collect())
        }
        let repr = match &self.repr {
            Repr::Ints(ints) => Repr::Ints(pick(ints, sel)?),
            Repr::Floats(floats) => Repr::Floats(pick(floats, sel)?),
            Repr::Cells(cells) => {
                let cells = pick(cells, sel)?;
                let empty = |c: &Cell| matches!(c.kind(), CellKind::Missing | CellKind::Null);
                if cells.iter().any(empty) {
                    return None;
                }
                Repr::Cells(cells)
            }
            Repr::Const(value, _) if !matches!(value, Value::Missing | Value::Null) => {
                Repr::Const(value.clone(), sel.len())
            }
            Repr::Const(..) | Repr::Values(_) => return None,
        };
        Some(Column { bytes: self.bytes.clone(), ..Self::of(repr, self.ints) })
    }

    pub fn is_missing(&self, row: usize) -> bool {
        match &self.repr {
            Repr::Cells(cells) => cells.get(row).is_none_or(|c| c.kind() == CellKind::Missing),
            Repr::Values(values) => values.get(row).is_none_or(Value::is_missing),
            Repr::Const(value, _) => value.is_missing(),
            Repr::Floats(_) | Repr::Ints(_) => row >= self.len(),
        }
    }

    /// Appends the row's JSON, copying the payload's own text where that is its output form.
    #[inline]
    pub fn write_json(&self, row: usize, out: &mut Vec<u8>) -> Result<()> {
        match &self.repr {
            Repr::Cells(cells) => {
                let cell = cells.get(row).copied().unwrap_or_default();
                if matches!(cell.kind(), CellKind::Object | CellKind::Array) {
                    return self.write_nested(row, cell, out);
                }
                write_cell(out, cell, &self.bytes, self.ints)
            }
            Repr::Values(values) => match values.get(row) {
                Some(value) => json::write_value(out, value),
                None => json::write_value(out, &Value::Missing),
            },
            Repr::Const(value, _) => json::write_value(out, value),
            Repr::Floats(f) => match f.get(row) {
                Some(f) if f.is_finite() => {
                    number::write_json_f64(out, *f);
                    Ok(())
                }
                _ => json::write_value(out, &self.value(row)),
            },
            Repr::Ints(i) => match i.get(row) {
                Some(i) => {
                    number::write_i64(out, *i);
                    Ok(())
                }
                None => json::write_value(out, &Value::Missing),
            },
        }
    }

    fn write_nested(&self, row: usize, cell: Cell, out: &mut Vec<u8>) -> Result<()> {
        let texts = self.texts.get_or_init(|| vec![OnceLock::new(); self.len()].into());
        let Some(text) = texts.get(row) else { return Ok(()) };
        if let Some(text) = text.get() {
            out.extend_from_slice(text);
            return Ok(());
        }
        let start = out.len();
        write_cell(out, cell, &self.bytes, self.ints)?;
        let _ = text.set(out[start..].into()); // another thread may have been quicker
        Ok(())
    }

    /// The column as numbers, read at the first call.
    pub fn nums(&self) -> &Nums {
        self.nums.get_or_init(|| self.read_nums())
    }

    fn read_nums(&self) -> Nums {
        let rows = self.len();
        if let Repr::Floats(floats) = &self.repr
            && floats.iter().all(|f| f.is_finite())
        {
            return Nums { vals: floats.clone(), all_plain: true, plain: Vec::new() };
        }
        let mut nums = Nums { vals: Vec::with_capacity(rows), all_plain: true, plain: Vec::new() };
        let mut push = |number: Option<f64>, row: usize| {
            if number.is_none() && nums.all_plain {
                nums.all_plain = false;
                nums.plain = vec![true; row];
            }
            nums.vals.push(number.unwrap_or(0.0));
            if !nums.all_plain {
                nums.plain.push(number.is_some());
            }
        };
        match &self.repr {
            Repr::Cells(cells) => {
                for (row, cell) in cells.iter().enumerate() {
                    let number = match cell.kind() {
                        CellKind::Int | CellKind::Decimal => {
                            number::parse_f64(cell.slice(&self.bytes))
                        }
                        CellKind::Number => plain(&cell_value(*cell, &self.bytes, self.ints)),
                        _ => None,
                    };
                    push(number, row);
                }
            }
            Repr::Values(values) => {
                for (row, value) in values.iter().enumerate() {
                    push(plain(value), row);
                }
            }
            Repr::Const(value, n) => {
                for row in 0..*n {
                    push(plain(value), row);
                }
            }
            Repr::Floats(floats) => {
                for (row, f) in floats.iter().enumerate() {
                    push(f.is_finite().then_some(*f), row);
                }
            }
            Repr::Ints(ints) => {
                for (row, i) in ints.iter().enumerate() {
                    push((i.unsigned_abs() <= 1 << 53).then_some(*i as f64), row);
                }
            }
        }
        nums
    }
}

/// The number, if it is one and a double holds it exactly and finitely.
fn plain(value: &Value) -> Option<f64> {
    match value {
        Value::Float(f) if f.is_finite() => Some(*f),
        Value::Int(i) if i.unsigned_abs() <= 1 << 53 => Some(*i as f64),
        _ => None,
    }
}

/// The value of a cell.
pub fn cell_value(cell: Cell, bytes: &[u8], ints: bool) -> Value {
    let text = cell.slice(bytes);
    match cell.kind() {
        CellKind::Missing => Value::Missing,
        CellKind::Null => Value::Null,
        CellKind::False => Value::Bool(false),
        CellKind::True => Value::Bool(true),
        CellKind::Int | CellKind::Decimal | CellKind::Number => {
            if ints && let Some(i) = number::parse_i64(text) {
                return Value::Int(i);
            }
            json::schemaless_number(text).unwrap_or(Value::Null)
        }
        CellKind::Plain | CellKind::Text => lossy(text),
        CellKind::Escaped => Value::Str(json::unescape(text)),
        CellKind::Array | CellKind::Object => json::parse(text).unwrap_or(Value::Null),
        CellKind::Bytes => Value::bytes(text),
    }
}

fn lossy(text: &[u8]) -> Value {
    match std::str::from_utf8(text) {
        Ok(s) => Value::Str(Str::from(s)),
        Err(_) => Value::Str(Str::from(String::from_utf8_lossy(text).as_ref())),
    }
}

/// Appends `text`, which is the beginning of `from`. Short ones are copied as sixteen bytes of
/// which the rest is taken back: that is two instructions instead of a call.
#[inline(always)]
pub fn push_near(out: &mut Vec<u8>, text: &[u8], from: &[u8]) {
    match from.first_chunk::<16>() {
        Some(chunk) if text.len() <= 16 => {
            let end = out.len() + text.len();
            out.extend_from_slice(chunk);
            out.truncate(end);
        }
        _ => out.extend_from_slice(text),
    }
}

/// Appends a cell's JSON form.
#[inline]
pub fn write_cell(out: &mut Vec<u8>, cell: Cell, bytes: &[u8], ints: bool) -> Result<()> {
    let text = cell.slice(bytes);
    match cell.kind() {
        CellKind::Plain => {
            out.push(b'"');
            push_near(out, text, bytes.get(cell.off()..).unwrap_or_default());
            out.push(b'"');
        }
        CellKind::Int | CellKind::Decimal => {
            push_near(out, text, bytes.get(cell.off()..).unwrap_or_default());
        }
        CellKind::True => out.extend_from_slice(b"true"),
        CellKind::False => out.extend_from_slice(b"false"),
        CellKind::Missing | CellKind::Null => out.extend_from_slice(b"null"),
        CellKind::Text => json::write_str(out, text),
        CellKind::Bytes => json::write_base64(out, text),
        CellKind::Number | CellKind::Escaped | CellKind::Array | CellKind::Object => {
            return json::write_value(out, &cell_value(cell, bytes, ints));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dense_numbers_are_as_values_are() {
        let floats = [21.5, -0.0, 1e300, f64::NAN];
        let ints = [0, -7, i64::MAX];
        let dense = [Column::floats(floats.to_vec()), Column::whole_numbers(ints.to_vec())];
        let loose = [
            Column::values(floats.map(Value::Float).to_vec()),
            Column::values(ints.map(Value::Int).to_vec()),
        ];
        for (a, b) in dense.iter().zip(&loose) {
            assert_eq!((a.len(), a.nums().all_plain), (b.len(), b.nums().all_plain));
            assert_eq!((&a.nums().vals, &a.nums().plain), (&b.nums().vals, &b.nums().plain));
            for row in 0..=a.len() {
                assert_eq!(format!("{:?}", a.value(row)), format!("{:?}", b.value(row)));
                assert_eq!(a.is_missing(row), b.is_missing(row));
                let (mut x, mut y) = (Vec::new(), Vec::new());
                let (one, other) = (a.write_json(row, &mut x), b.write_json(row, &mut y));
                assert_eq!((one.is_ok(), x), (other.is_ok(), y));
            }
        }
    }

    #[test]
    fn numbers_are_read_once_and_say_where_they_are_not_plain() {
        let bytes = Bytes::from_static(b"21.5 x 7 1795292668348461057");
        let cells = vec![
            Cell::new(CellKind::Decimal, 0, 4),
            Cell::new(CellKind::Plain, 5, 1),
            Cell::new(CellKind::Int, 7, 1),
            Cell::new(CellKind::Number, 9, 19),
        ];
        let col = Column::cells(bytes, cells, false);
        let nums = col.nums();
        assert_eq!(nums.plain, [true, false, true, false]);
        assert_eq!((nums.vals[0], nums.vals[2]), (21.5, 7.0));
        assert!(matches!(col.value(3), Value::Wide(1795292668348461057)));
        let mut out = Vec::new();
        for row in 0..4 {
            col.write_json(row, &mut out).unwrap();
            out.push(b' ');
        }
        assert_eq!(out, b"21.5 \"x\" 7 1795292668348461057 ");
    }
}
