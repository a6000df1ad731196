//! Declared columns of JSON streams: what each type accepts, and what it makes of it.

use rekuiper_value::number;
use rekuiper_value::{Cell, CellKind, ColType, Error, Object, Result, Value, cast, column, json};

use crate::table::{Build, Table};

/// Brings a slot's column to its declared type. Gives the rows that it does not fit.
pub fn column(table: &mut Table, slot: usize, name: &str, ty: &ColType) -> Vec<(usize, Error)> {
    let Some(Build::Cells(cells)) = table.slots.get_mut(slot) else { return Vec::new() };
    if let ColType::Bigint = ty {
        table.ints[slot] = true;
    }
    let needs = |cell: &Cell| !fits_as_it_is(cell.kind(), ty);
    let Some(first) = cells.iter().position(needs) else { return Vec::new() };
    let bytes = table.bytes.clone();
    let ints = table.ints[slot];
    let mut bad = Vec::new();
    let mut values: Vec<Value> = Vec::with_capacity(cells.len());
    values.extend(cells[..first].iter().map(|cell| column::cell_value(*cell, &bytes, ints)));
    for (row, cell) in cells.iter().enumerate().skip(first) {
        let value = column::cell_value(*cell, &bytes, ints);
        if fits_as_it_is(cell.kind(), ty) {
            values.push(value);
            continue;
        }
        values.push(convert(value, ty, name).unwrap_or_else(|error| {
            bad.push((row, error));
            Value::Missing
        }));
    }
    table.slots[slot] = Build::Values(values);
    bad
}

/// Whether a cell of that kind is already a value of the type.
fn fits_as_it_is(kind: CellKind, ty: &ColType) -> bool {
    use CellKind::*;
    matches!(
        (kind, ty),
        (Missing | Null, _)
            | (_, ColType::Any)
            | (Int, ColType::Bigint)
            | (Int | Decimal | Number, ColType::Float | ColType::Datetime)
            | (Plain | Escaped, ColType::String | ColType::Datetime)
            | (True | False, ColType::Boolean)
    )
}

/// A value as the declared type has it.
pub fn convert(value: Value, ty: &ColType, name: &str) -> Result<Value> {
    let wrong = |value: &Value| {
        Error::new(format!("{name} has wrong type:{}, expect:{}", json_kind(value), ty_name(ty)))
    };
    if value.is_null() {
        return Ok(value);
    }
    match ty {
        ColType::Any => Ok(value),
        ColType::Bigint => match &value {
            Value::Int(_) => Ok(value),
            Value::Wide(i) => Ok(Value::Int(*i)),
            Value::Float(f) => match cast::whole_part(*f) {
                Some(i) if f.fract() == 0.0 => Ok(Value::Int(i)),
                _ => Err(Error::new(format!(
                    "{name} expects a whole number of 64 bits for bigint, got {}",
                    rekuiper_value::text::render(&value)
                ))),
            },
            _ => Err(wrong(&value)),
        },
        ColType::Float => match value.as_f64() {
            Some(f) => Ok(Value::Float(f)),
            None => Err(wrong(&value)),
        },
        ColType::String => match &value {
            Value::Str(_) => Ok(value),
            _ => match value.as_f64() {
                Some(f) => {
                    let mut text = Vec::new();
                    number::write_go_f64(&mut text, f);
                    Ok(Value::str(String::from_utf8_lossy(&text).as_ref()))
                }
                None => Err(wrong(&value)),
            },
        },
        ColType::Boolean => match &value {
            Value::Bool(_) => Ok(value),
            Value::Str(s) => cast::parse_bool(s).map(Value::Bool).ok_or_else(|| wrong(&value)),
            _ => value.as_f64().map(|f| Value::Bool(f != 0.0)).ok_or_else(|| wrong(&value)),
        },
        ColType::Datetime => match &value {
            Value::Str(_) | Value::Float(_) | Value::Int(_) | Value::Wide(_) => Ok(value),
            _ => Err(wrong(&value)),
        },
        ColType::Bytea => match &value {
            Value::Bytes(_) => Ok(value),
            Value::Str(s) => {
                Ok(Value::bytes(cast::base64_decode(s).unwrap_or_else(|| s.as_bytes().to_vec())))
            }
            _ => Err(wrong(&value)),
        },
        ColType::Array(of) => match &value {
            Value::Array(items) => {
                let made: Result<Vec<Value>> =
                    items.iter().map(|item| convert(item.clone(), of, name)).collect();
                Ok(Value::array(made?))
            }
            _ => Err(wrong(&value)),
        },
        ColType::Struct(members) => match &value {
            Value::Object(object) => {
                let mut made = Object::new();
                for (member, ty) in members {
                    if let Some(v) = object.get(member) {
                        made.insert(member.clone(), convert(v.clone(), ty, member)?);
                    }
                }
                Ok(Value::object(made))
            }
            _ => Err(wrong(&value)),
        },
    }
}

fn json_kind(value: &Value) -> &'static str {
    match value {
        Value::Missing | Value::Null => "null",
        Value::Bool(_) => "bool",
        Value::Int(_) | Value::Float(_) | Value::Wide(_) => "number",
        Value::Str(_) | Value::Time(_) | Value::Bytes(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

fn ty_name(ty: &ColType) -> &'static str {
    match ty {
        ColType::Any => "any",
        ColType::Bigint => "bigint",
        ColType::Float => "float",
        ColType::String => "string",
        ColType::Datetime => "datetime",
        ColType::Boolean => "boolean",
        ColType::Bytea => "bytea",
        ColType::Array(_) => "array",
        ColType::Struct(_) => "struct",
    }
}

/// `useInt64ForWholeNumber`: brings a schemaless column's numbers to integers where they are
/// written without a point.
pub fn whole_numbers(build: &mut Build, bytes: &[u8]) -> Vec<(usize, Error)> {
    let Build::Cells(cells) = build else { return Vec::new() };
    let mut bad = Vec::new();
    let nested = |cell: &Cell| matches!(cell.kind(), CellKind::Array | CellKind::Object);
    for (row, cell) in cells.iter().enumerate() {
        let text = cell.slice(bytes);
        if cell.kind() == CellKind::Number
            && !text.contains(&b'.')
            && number::parse_i64(text).is_none()
        {
            bad.push((
                row,
                Error::new(format!(
                    "{} is no whole number of 64 bits, which useInt64ForWholeNumber wants",
                    String::from_utf8_lossy(text)
                )),
            ));
        }
    }
    if cells.iter().any(nested) {
        let values = cells.iter().map(|cell| match nested(cell) {
            true => with_ints(cell.slice(bytes)),
            false => column::cell_value(*cell, bytes, true),
        });
        *build = Build::Values(values.collect());
    }
    bad
}

/// JSON text as a value with integers.
fn with_ints(text: &[u8]) -> Value {
    match serde_json::from_slice::<serde_json::Value>(text) {
        Ok(value) => json::from_serde(&value, true),
        // bad UTF-8 or very deep: better doubles than nothing
        Err(_) => json::parse(text).unwrap_or(Value::Null),
    }
}
