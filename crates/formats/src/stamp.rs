//! Event time: the TIMESTAMP column of each row as Unix milliseconds.

use jiff::tz::TimeZone;
use rekuiper_value::{Cell, CellKind, Error, Result, Value, number, time};

use crate::table::{Build, Table};

/// The stamps of all rows, 0 where there is none, and the rows without one.
pub fn stamps(
    table: &Table,
    slot: usize,
    name: &str,
    format: Option<&time::Pattern>,
    zone: &TimeZone,
) -> (Vec<i64>, Vec<(usize, Error)>) {
    let rows = table.rows();
    let mut stamps = Vec::with_capacity(rows);
    let mut bad = Vec::new();
    let cells = match table.slots.get(slot) {
        Some(Build::Cells(cells)) => Some(cells),
        _ => None,
    };
    for row in 0..rows {
        if let Some(ms) = cells.and_then(|cells| whole(cells.get(row)?, &table.bytes)) {
            stamps.push(ms);
            continue;
        }
        let stamp = stamp(&table.value(slot, row), name, format, zone);
        stamps.push(stamp.unwrap_or_else(|error| {
            bad.push((row, error));
            0
        }));
    }
    (stamps, bad)
}

/// The usual case: milliseconds as a whole number.
fn whole(cell: &Cell, bytes: &[u8]) -> Option<i64> {
    if cell.kind() == CellKind::Int { number::parse_i64(cell.slice(bytes)) } else { None }
}

fn stamp(
    value: &Value,
    name: &str,
    format: Option<&time::Pattern>,
    zone: &TimeZone,
) -> Result<i64> {
    let cannot = |error: Error| {
        Error::new(format!("cannot convert timestamp field {name} to timestamp with error {error}"))
    };
    match value {
        Value::Missing => {
            Err(Error::new(format!("cannot find timestamp field {name} in the message")))
        }
        Value::Str(text) => {
            let t = match format {
                Some(pattern) => pattern.parse(text, zone),
                None => time::read_time(text, zone),
            };
            t.map(|t| time::millis(&t)).map_err(cannot)
        }
        other => time::to_time(other, zone).map(|t| time::millis(&t)).map_err(cannot),
    }
}
