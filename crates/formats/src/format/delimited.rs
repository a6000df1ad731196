//! FORMAT delimited: cells between delimiters, without any quoting.

use memchr::memmem;
use rekuiper_value::batch::Msg;
use rekuiper_value::{Cell, CellKind, Object, Str, Value, number, text};

use crate::decoder::payload;
use crate::options::DecodeOptions;
use crate::table::{Build, Table};

/// Beyond this many columns `colN` is never there.
const COLUMNS_MAX: usize = 1 << 16;

/// Which slot each column has.
#[derive(Clone, Debug, Default)]
pub struct Slots(Vec<Option<usize>>);

impl Slots {
    /// `fields` are the columns' names; without them they are col0, col1, …
    pub fn new(names: &[Str], fields: &[Str]) -> Self {
        let mut slots = Vec::new();
        for (slot, name) in names.iter().enumerate() {
            let at = match fields.is_empty() {
                true => default_index(name),
                false => fields.iter().position(|field| field == name),
            };
            if let Some(at) = at.filter(|at| *at < COLUMNS_MAX) {
                if slots.len() <= at {
                    slots.resize(at + 1, None);
                }
                slots[at] = Some(slot);
            }
        }
        Slots(slots)
    }
}

/// `col12` is 12.
fn default_index(name: &str) -> Option<usize> {
    let digits = name.strip_prefix("col")?;
    if digits.len() > 1 && digits.starts_with('0') || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    digits.parse().ok()
}

fn delimiter(options: &DecodeOptions) -> &[u8] {
    if options.delimiter.is_empty() { b"," } else { options.delimiter.as_bytes() }
}

/// Where each cell of a payload stands.
fn split<'a>(
    line: &'a [u8],
    finder: &'a memmem::Finder<'_>,
) -> impl Iterator<Item = (usize, usize)> + 'a {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let from = next?;
        match finder.find(line.get(from..)?) {
            Some(at) => {
                next = Some(from + at + finder.needle().len());
                Some((from, from + at))
            }
            None => {
                next = None;
                Some((from, line.len()))
            }
        }
    })
}

pub fn decode(table: &mut Table, msgs: &[Msg], slots: &Slots, options: &DecodeOptions) {
    let bytes = table.bytes.clone();
    let finder = memmem::Finder::new(delimiter(options));
    let mut row = vec![Cell::MISSING; table.slots.len()];
    for (at, msg) in msgs.iter().enumerate() {
        let line = payload(&bytes, msg);
        let base = msg.payload.0 as usize;
        row.fill(Cell::MISSING);
        for ((from, to), slot) in split(line, &finder).zip(&slots.0) {
            if let Some(cell) = slot.and_then(|slot| row.get_mut(slot)) {
                *cell = Cell::new(CellKind::Text, base + from, to - from);
            }
        }
        for (build, cell) in table.slots.iter_mut().zip(&row) {
            if let Build::Cells(column) = build {
                column.push(*cell);
            }
        }
        table.row_msgs.push(at as u32);
    }
    if let Some(whole) = &mut table.whole {
        let rows = msgs.iter().map(|msg| Value::object(object(payload(&bytes, msg), options)));
        *whole = Build::Values(rows.collect());
    }
}

pub fn object(line: &[u8], options: &DecodeOptions) -> Object {
    let finder = memmem::Finder::new(delimiter(options));
    let mut object = Object::new();
    for (at, (from, to)) in split(line, &finder).enumerate() {
        let name = match options.fields.get(at) {
            Some(name) => name.clone(),
            None if options.fields.is_empty() => Str::from(format!("col{at}")),
            None => break,
        };
        object.insert(name, Value::str(String::from_utf8_lossy(&line[from..to]).as_ref()));
    }
    object
}

/// Writes one row as a line without its end.
pub fn encode(out: &mut Vec<u8>, row: &Object, columns: &[Str], delimiter: &str) {
    for (at, name) in columns.iter().enumerate() {
        if at > 0 {
            out.extend_from_slice(delimiter.as_bytes());
        }
        if let Some(value) = row.get(name) {
            write_text(out, value);
        }
    }
}

/// A value as plain text: null is empty, doubles never have an exponent.
pub fn write_text(out: &mut Vec<u8>, value: &Value) {
    match value {
        Value::Missing | Value::Null => {}
        Value::Float(f) => number::write_plain_f64(out, *f),
        Value::Wide(i) => number::write_i64(out, *i),
        Value::Bytes(bytes) => out.extend_from_slice(bytes),
        other => text::render_into(out, other),
    }
}
