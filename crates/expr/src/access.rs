//! `->`, `[i]` and `[a:b]` on values.

use rekuiper_value::{Error, Result, Value};

/// A member of an object. A member that is not there is `Missing`; so is any of text or a
/// number. Of an array it is an error: which element was meant?
pub fn member(base: &Value, name: &str) -> Result<Value> {
    match base {
        Value::Object(members) => Ok(members.get(name).cloned().unwrap_or_default()),
        Value::Array(_) => Err(Error::new(format!(
            "cannot take member {name} of an array: take one of its elements first"
        ))),
        _ => Ok(Value::Missing),
    }
}

fn whole(value: &Value, what: &str) -> Result<i64> {
    match value {
        Value::Int(i) | Value::Wide(i) => Ok(*i),
        // a fraction is cut off
        Value::Float(f) if f.abs() < 9e15 => Ok(*f as i64),
        other => Err(Error::new(format!(
            "{what} must be a whole number, found {}",
            other.kind_name()
        ))),
    }
}

/// An element; negative indexes count from the end. Out of range is an error.
pub fn index(base: &Value, at: &Value) -> Result<Value> {
    match base {
        Value::Missing | Value::Null => Ok(Value::Missing),
        Value::Array(items) => {
            let at = whole(at, "an index")?;
            let from_start = if at < 0 { at + items.len() as i64 } else { at };
            usize::try_from(from_start)
                .ok()
                .and_then(|i| items.get(i))
                .cloned()
                .ok_or_else(|| Error::new(format!("out of index: {at} of {}", items.len())))
        }
        other => Err(Error::new(format!(
            "cannot take an element of a {}: it is no array",
            other.kind_name()
        ))),
    }
}

/// Elements from (inclusive) to (exclusive); either may be left out or negative. A slice that would
/// hold nothing is an error, as out of range is.
pub fn slice(base: &Value, from: Option<&Value>, to: Option<&Value>) -> Result<Value> {
    let items = match base {
        Value::Missing | Value::Null => return Ok(Value::Missing),
        Value::Array(items) => items,
        other => {
            return Err(Error::new(format!(
                "cannot take a slice of a {}: it is no array",
                other.kind_name()
            )));
        }
    };
    let len = items.len() as i64;
    let bound = |value: Option<&Value>, default: i64| -> Result<i64> {
        let Some(value) = value else {
            return Ok(default);
        };
        let at = whole(value, "a slice bound")?;
        Ok(if at < 0 { at + len } else { at })
    };
    let (start, end) = (bound(from, 0)?, bound(to, len)?);
    if start < 0 || end > len || start >= end {
        return Err(Error::new(format!(
            "out of index: [{start}:{end}] of {len}"
        )));
    }
    Ok(Value::array(items[start as usize..end as usize].to_vec()))
}
