//! From a message to a row.

use bytes::Bytes;
use prost_reflect::Value as P;
use prost_reflect::{DynamicMessage, FieldDescriptor, Kind, MessageDescriptor, ReflectMessage};
use rekuiper_value::{Error, Object, Result, Str, Value};

use super::wrapped;

pub fn message(descriptor: &MessageDescriptor, payload: &[u8]) -> Result<Object> {
    match DynamicMessage::decode(descriptor.clone(), Bytes::copy_from_slice(payload)) {
        Ok(message) => Ok(object(&message)),
        Err(error) => Err(Error::new(format!(
            "cannot decode the payload as protobuf message {}: {error}",
            descriptor.name()
        ))),
    }
}

fn object(message: &DynamicMessage) -> Object {
    let mut object = Object::new();
    for field in message.descriptor().fields() {
        let value = match message.has_field(&field) {
            true if field.is_map() => continue,
            true => value(&message.get_field(&field)),
            false => match absent(&field) {
                Some(value) => value,
                None => continue,
            },
        };
        object.insert(Str::from(field.name()), value);
    }
    object
}

/// What an absent field is: its zero value, null, or left out.
fn absent(field: &FieldDescriptor) -> Option<Value> {
    if field.is_map() || field.containing_oneof().is_some() {
        return None;
    }
    let message = matches!(field.kind(), Kind::Message(_));
    if field.is_list() {
        return Some(if message { Value::array(Vec::new()) } else { Value::Null });
    }
    if message || matches!(field.kind(), Kind::Bytes) {
        return Some(Value::Null);
    }
    (!field.supports_presence()).then(|| value(&field.default_value()))
}

fn value(from: &P) -> Value {
    match from {
        P::Bool(b) => Value::Bool(*b),
        P::I32(i) | P::EnumNumber(i) => Value::Int(i64::from(*i)),
        P::I64(i) => Value::Int(*i),
        P::U32(i) => Value::Int(i64::from(*i)),
        P::U64(i) => Value::Int(*i as i64),
        P::F32(f) => Value::Float(f64::from(*f)),
        P::F64(f) => Value::Float(*f),
        P::String(s) => Value::str(s.as_str()),
        P::Bytes(b) => Value::bytes(&b[..]),
        P::Message(message) => match wrapped(&message.descriptor()) {
            Some(inner) => value(&message.get_field(&inner)),
            None => Value::object(object(message)),
        },
        P::List(items) => Value::array(items.iter().map(value).collect()),
        P::Map(_) => Value::Missing,
    }
}
