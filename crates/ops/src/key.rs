//! Keys of groups, partitions and joins as bytes: equal values give equal bytes, whatever they
//! came as. Numbers count by value (1 is 1.0), text "1" is another key than the number 1, null and
//! missing are one.

use rekuiper_value::{Cell, CellKind, Value, column, json, number};

/// What stands before the bytes of a value.
#[derive(Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Tag {
    Null = 0,
    False = 1,
    True = 2,
    Number = 3,
    Text = 4,
    Bytes = 5,
    Array = 6,
    Object = 7,
    Time = 8,
}

/// The tag of a cell whose own text is its key; `None` where it must be made into a value first.
#[inline(always)]
pub fn plain_tag(kind: CellKind) -> Option<Tag> {
    match kind {
        CellKind::Plain | CellKind::Text => Some(Tag::Text),
        CellKind::Int | CellKind::Decimal => Some(Tag::Number),
        _ => None,
    }
}

/// Appends tag and bytes of a value.
pub fn write_value(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Missing | Value::Null => out.push(Tag::Null as u8),
        Value::Bool(b) => out.push(if *b { Tag::True as u8 } else { Tag::False as u8 }),
        Value::Int(i) | Value::Wide(i) => {
            out.push(Tag::Number as u8);
            number::write_i64(out, *i);
        }
        Value::Float(f) => {
            out.push(Tag::Number as u8);
            write_float(out, *f);
        }
        Value::Str(s) => {
            out.push(Tag::Text as u8);
            out.extend_from_slice(s.as_bytes());
        }
        Value::Bytes(b) => {
            out.push(Tag::Bytes as u8);
            out.extend_from_slice(b);
        }
        Value::Array(items) => {
            out.push(Tag::Array as u8);
            items.iter().for_each(|item| write_part(out, item));
        }
        Value::Object(members) => {
            out.push(Tag::Object as u8);
            for (name, member) in members.iter() {
                write_len(out, name.len());
                out.extend_from_slice(name.as_bytes());
                write_part(out, member);
            }
        }
        Value::Time(t) => {
            out.push(Tag::Time as u8);
            out.extend_from_slice(&t.timestamp().as_nanosecond().to_le_bytes());
        }
    }
}

/// As an integer where it is one, so that all kinds of numbers meet.
fn write_float(out: &mut Vec<u8>, f: f64) {
    const TOO_FAR: f64 = 9_223_372_036_854_775_808.0;
    if f.is_nan() {
        out.extend_from_slice(b"NaN");
    } else if f.trunc() == f && (-TOO_FAR..TOO_FAR).contains(&f) {
        number::write_i64(out, f as i64);
    } else if f.is_finite() {
        number::write_json_f64(out, f);
    } else {
        out.extend_from_slice(if f > 0.0 { b"Inf" } else { b"-Inf" });
    }
}

fn write_len(out: &mut Vec<u8>, len: usize) {
    out.extend_from_slice(&(len as u32).to_le_bytes());
}

/// Appends a value as one of several: its length stands before it.
pub fn write_part(out: &mut Vec<u8>, value: &Value) {
    let at = out.len();
    write_len(out, 0);
    write_value(out, value);
    let len = (out.len() - at - 4) as u32;
    out[at..at + 4].copy_from_slice(&len.to_le_bytes());
}

/// Appends a cell's tag and bytes.
pub fn write_cell(out: &mut Vec<u8>, cell: Cell, bytes: &[u8], ints: bool) {
    match (plain_tag(cell.kind()), cell.kind()) {
        (Some(tag), _) => {
            out.push(tag as u8);
            out.extend_from_slice(cell.slice(bytes));
        }
        (None, CellKind::Escaped) => {
            out.push(Tag::Text as u8);
            out.extend_from_slice(json::unescape(cell.slice(bytes)).as_bytes());
        }
        _ => write_value(out, &column::cell_value(cell, bytes, ints)),
    }
}

/// A key being put together.
#[derive(Default)]
pub struct KeyBuf {
    bytes: Vec<u8>,
}

impl KeyBuf {
    pub fn clear(&mut self) {
        self.bytes.clear();
    }

    pub fn push(&mut self, value: &Value) {
        write_part(&mut self.bytes, value);
    }

    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(value: Value) -> Vec<u8> {
        let mut out = Vec::new();
        write_value(&mut out, &value);
        out
    }

    #[test]
    fn values_meet_over_kinds_and_stay_apart_over_types() {
        assert_eq!(key(Value::Int(1)), key(Value::Float(1.0)));
        assert_eq!(key(Value::Float(0.0)), key(Value::Float(-0.0)));
        assert_eq!(key(Value::Wide(1 << 60)), key(Value::Float((1_u64 << 60) as f64)));
        assert_ne!(key(Value::Int(1)), key(Value::from("1")));
        assert_eq!(key(Value::Null), key(Value::Missing));
        assert_ne!(key(Value::Null), key(Value::from("<nil>")));
        let text = b"12 1.5 ab";
        for (kind, at, len, value) in [
            (CellKind::Int, 0, 2, Value::Float(12.0)),
            (CellKind::Decimal, 3, 3, Value::Float(1.5)),
            (CellKind::Plain, 7, 2, Value::from("ab")),
        ] {
            let mut out = Vec::new();
            write_cell(&mut out, Cell::new(kind, at, len), text, false);
            assert_eq!(out, key(value));
        }
    }

    #[test]
    fn parts_do_not_run_together() {
        let both = |a: &str, b: &str| {
            let mut key = KeyBuf::default();
            key.push(&Value::from(a));
            key.push(&Value::from(b));
            key.bytes().to_vec()
        };
        assert_ne!(both("a,", "b"), both("a", ",b"));
    }
}
