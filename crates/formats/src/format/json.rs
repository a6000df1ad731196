//! FORMAT json.

use rekuiper_value::batch::Msg;
use rekuiper_value::{Cell, Error, Object, Result, Value, json};

use crate::decoder::payload;
use crate::scan::{Fault, RowSink, Scanner};
use crate::table::{Build, Table};

struct Rows<'a> {
    table: &'a mut Table,
    msg: u32,
}

impl RowSink for Rows<'_> {
    #[inline]
    fn row(&mut self, cells: &[Cell], whole: Cell) -> std::result::Result<(), Fault> {
        for (build, cell) in self.table.slots.iter_mut().zip(cells) {
            if let Build::Cells(column) = build {
                column.push(*cell);
            }
        }
        if let Some(Build::Cells(column)) = &mut self.table.whole {
            column.push(whole);
        }
        self.table.row_msgs.push(self.msg);
        Ok(())
    }
}

/// Scans all messages into the table.
pub fn scan(scanner: &mut Scanner, table: &mut Table, msgs: &[Msg]) {
    let bytes = table.bytes.clone();
    for (at, msg) in msgs.iter().enumerate() {
        let rows = table.rows();
        let (from, to) = (msg.payload.0 as usize, (msg.payload.0 + msg.payload.1) as usize);
        let mut sink = Rows { table, msg: at as u32 };
        if let Err(fault) = scanner.payload(&bytes, from, to, &mut sink) {
            table.truncate(rows);
            table.errors.push((rows as u32, fault.error(payload(&bytes, msg), from)));
        }
    }
}

/// A payload as plain objects.
pub fn objects(payload: &[u8], ints: bool) -> Result<Vec<Object>> {
    let value = match ints.then(|| serde_json::from_slice::<serde_json::Value>(payload)) {
        Some(Ok(value)) => json::from_serde(&value, true),
        _ => json::parse(payload)?,
    };
    let unsupported =
        || Error::new("only map[string]interface{} and []map[string]interface{} is supported");
    match value {
        Value::Object(object) => Ok(vec![(*object).clone()]),
        Value::Array(items) => items
            .iter()
            .map(|item| match item {
                Value::Object(object) => Ok((**object).clone()),
                _ => Err(unsupported()),
            })
            .collect(),
        _ => Err(unsupported()),
    }
}

/// Appends the JSON text of a member's key with its colon: `"key":`. A projection prepares these
/// once and writes rows as prefix, value, comma.
pub fn write_key(out: &mut Vec<u8>, key: &str) {
    json::write_str(out, key.as_bytes());
    out.push(b':');
}
