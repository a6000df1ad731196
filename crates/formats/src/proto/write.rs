//! From a row to a message.

use bytes::Bytes;
use prost_reflect::Value as P;
use prost_reflect::prost::Message as _;
use prost_reflect::{Cardinality, DynamicMessage, FieldDescriptor, Kind, MessageDescriptor};
use rekuiper_value::{Error, Object, Result, Value, text};

use super::wrapped;

pub fn message(descriptor: &MessageDescriptor, row: &Object, out: &mut Vec<u8>) -> Result<()> {
    let message = build(descriptor, row)?;
    message.encode(out).map_err(|e| Error::new(format!("cannot encode {}: {e}", descriptor.name())))
}

fn build(descriptor: &MessageDescriptor, row: &Object) -> Result<DynamicMessage> {
    let mut message = DynamicMessage::new(descriptor.clone());
    for field in descriptor.fields() {
        let value = row.get(field.name()).filter(|value| !value.is_null());
        let Some(value) = value else {
            if field.cardinality() == Cardinality::Required {
                return Err(Error::new(format!(
                    "required field {} is not in the row",
                    field.name()
                )));
            }
            continue;
        };
        if field.is_map() {
            return Err(Error::new(format!("map field {} is not supported", field.name())));
        }
        let made = match field.is_list() {
            false => one(&field, value)?,
            true => match value {
                Value::Array(items) => {
                    let all: Result<Vec<P>> = items.iter().map(|item| one(&field, item)).collect();
                    P::List(all?)
                }
                other => return Err(wrong(&field, other, "list")),
            },
        };
        message.set_field(&field, made);
    }
    Ok(message)
}

fn wrong(field: &FieldDescriptor, value: &Value, to: &str) -> Error {
    Error::new(format!(
        "invalid type for {to} type field '{}': cannot convert {}({}) to {to}",
        field.name(),
        value.kind_name(),
        text::render(value)
    ))
}

fn int(field: &FieldDescriptor, value: &Value) -> Result<i64> {
    match value {
        Value::Int(i) | Value::Wide(i) => Ok(*i),
        Value::Float(f) if f.is_finite() => Ok(*f as i64),
        other => Err(wrong(field, other, "int")),
    }
}

fn one(field: &FieldDescriptor, value: &Value) -> Result<P> {
    Ok(match field.kind() {
        Kind::Double => P::F64(value.as_f64().ok_or_else(|| wrong(field, value, "float"))?),
        Kind::Float => P::F32(value.as_f64().ok_or_else(|| wrong(field, value, "float"))? as f32),
        Kind::Int32 | Kind::Sint32 | Kind::Sfixed32 => P::I32(int(field, value)? as i32),
        Kind::Int64 | Kind::Sint64 | Kind::Sfixed64 => P::I64(int(field, value)?),
        Kind::Uint32 | Kind::Fixed32 => P::U32(int(field, value)? as u32),
        Kind::Uint64 | Kind::Fixed64 => P::U64(int(field, value)? as u64),
        Kind::Enum(_) => P::EnumNumber(int(field, value)? as i32),
        Kind::Bool => P::Bool(value.as_bool().ok_or_else(|| wrong(field, value, "bool"))?),
        Kind::String => match value {
            Value::Str(s) => P::String(s.to_string()),
            other => return Err(wrong(field, other, "string")),
        },
        Kind::Bytes => match value {
            Value::Bytes(b) => P::Bytes(Bytes::copy_from_slice(b)),
            Value::Str(s) => P::Bytes(Bytes::copy_from_slice(s.as_bytes())),
            other => return Err(wrong(field, other, "bytes")),
        },
        Kind::Message(descriptor) => match (wrapped(&descriptor), value) {
            (Some(inner), value) => {
                let mut message = DynamicMessage::new(descriptor);
                let made = one(&inner, value)?;
                message.set_field(&inner, made);
                P::Message(message)
            }
            (None, Value::Object(row)) => P::Message(build(&descriptor, row)?),
            (None, other) => return Err(wrong(field, other, "map")),
        },
    })
}
