//! FORMAT binary: the payload is one column, `self`, or the single BYTEA column of the stream.

use rekuiper_value::batch::Msg;
use rekuiper_value::{Cell, CellKind, ColType, Error, Object, Result, Str, Value};

use crate::decoder::payload;
use crate::options::DecodeOptions;
use crate::table::{Build, Table};

fn name(options: &DecodeOptions) -> Str {
    let declared = options.schema.iter().flatten().find(|(_, ty)| *ty == ColType::Bytea);
    declared.map_or_else(|| Str::from("self"), |(name, _)| name.clone())
}

pub fn object(payload: &[u8], options: &DecodeOptions) -> Object {
    Object::from([(name(options), Value::bytes(payload))])
}

pub fn decode(table: &mut Table, msgs: &[Msg], names: &[Str], options: &DecodeOptions) {
    let own = name(options);
    let bytes = table.bytes.clone();
    for (slot, name) in names.iter().enumerate() {
        if let Some(Build::Cells(column)) = table.slots.get_mut(slot) {
            column.extend(msgs.iter().map(|msg| match *name == own {
                true => Cell::new(CellKind::Bytes, msg.payload.0 as usize, msg.payload.1 as usize),
                false => Cell::MISSING,
            }));
        }
    }
    if let Some(whole) = &mut table.whole {
        let rows = msgs.iter().map(|msg| Value::object(object(payload(&bytes, msg), options)));
        *whole = Build::Values(rows.collect());
    }
    table.row_msgs.extend(0..msgs.len() as u32);
}

/// Writes a row's `self`.
pub fn encode(out: &mut Vec<u8>, row: &Object) -> Result<()> {
    match row.get("self") {
        Some(Value::Bytes(bytes)) => out.extend_from_slice(bytes),
        Some(Value::Str(text)) => out.extend_from_slice(text.as_bytes()),
        None | Some(Value::Missing | Value::Null) => {
            return Err(Error::new("field self not exist: format binary sends the column self"));
        }
        Some(other) => {
            return Err(Error::new(format!(
                "column self must be text or bytes to be sent as binary, got {}",
                other.kind_name()
            )));
        }
    }
    Ok(())
}
