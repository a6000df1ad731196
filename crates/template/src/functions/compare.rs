//! eq ne lt le gt ge: both sides must be of the same basic kind.

use std::cmp::Ordering;

use rekuiper_value::{Error, Result, Value};

use super::{Args, Function, MANY, f};

pub const FUNCTIONS: &[Function] = &[
    f("eq", 2, MANY, |a| {
        let first = a.any(0);
        for other in &a.args[1..] {
            if equal(&first, other)? {
                return Ok(Value::Bool(true));
            }
        }
        Ok(Value::Bool(false))
    }),
    f("ne", 2, 2, |a| Ok(Value::Bool(!equal(&a.args[0], &a.args[1])?))),
    f("lt", 2, 2, |a| order(a, |o| o == Ordering::Less)),
    f("le", 2, 2, |a| order(a, |o| o != Ordering::Greater)),
    f("gt", 2, 2, |a| order(a, |o| o == Ordering::Greater)),
    f("ge", 2, 2, |a| order(a, |o| o != Ordering::Less)),
];

#[derive(PartialEq)]
enum Kind {
    Bool,
    Int,
    Float,
    Text,
    Other,
}

fn kind(value: &Value) -> Kind {
    match value {
        Value::Bool(_) => Kind::Bool,
        Value::Int(_) => Kind::Int,
        Value::Float(_) | Value::Wide(_) => Kind::Float,
        Value::Str(_) => Kind::Text,
        _ => Kind::Other,
    }
}

fn equal(a: &Value, b: &Value) -> Result<bool> {
    if a.is_null() || b.is_null() {
        return Ok(a.is_null() && b.is_null());
    }
    if kind(a) != kind(b) {
        return Err(Error::new("incompatible types for comparison"));
    }
    match (a, b) {
        (Value::Array(_) | Value::Object(_) | Value::Bytes(_), _)
        | (_, Value::Array(_) | Value::Object(_) | Value::Bytes(_)) => {
            Err(Error::new(format!("non-comparable type {}", a.kind_name())))
        }
        _ => Ok(a == b),
    }
}

fn order(a: &Args<'_, '_>, holds: fn(Ordering) -> bool) -> Result<Value> {
    let (x, y) = (&a.args[0], &a.args[1]);
    let invalid = |k: &Kind| matches!(k, Kind::Other);
    if invalid(&kind(x)) || invalid(&kind(y)) {
        return Err(Error::new("invalid type for comparison"));
    }
    if kind(x) != kind(y) {
        return Err(Error::new("incompatible types for comparison"));
    }
    let ordering = match (x, y) {
        (Value::Bool(_), _) => return Err(Error::new("invalid type for comparison")),
        (Value::Str(x), Value::Str(y)) => Some(x.as_bytes().cmp(y.as_bytes())),
        (Value::Int(x), Value::Int(y)) => Some(x.cmp(y)),
        _ => x.as_f64().zip(y.as_f64()).and_then(|(x, y)| x.partial_cmp(&y)),
    };
    Ok(Value::Bool(ordering.is_some_and(holds)))
}
