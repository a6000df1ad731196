//! Reading the arguments of a call: the kind that is wanted, or an error that says so.

use std::cmp::Ordering;
use std::sync::Arc;

use rekuiper_value::{Error, Object, Result, Str, Value, number};

/// "array_max: argument 1 must be an array, but this row gives a string".
pub(crate) fn wrong(name: &str, at: usize, wanted: &str, got: &Value) -> Error {
    Error::new(format!(
        "{name}: argument {} must be {wanted}, but this row gives {}",
        at + 1,
        got.kind_name()
    ))
}

/// The argument, null where the call has fewer.
pub(crate) fn at(args: &[Value], index: usize) -> &Value {
    args.get(index).unwrap_or(&Value::Null)
}

pub(crate) fn array<'a>(
    name: &str,
    args: &'a [Value],
    index: usize,
) -> Result<&'a Arc<Vec<Value>>> {
    let value = at(args, index);
    value
        .as_array()
        .ok_or_else(|| wrong(name, index, "an array", value))
}

pub(crate) fn object<'a>(name: &str, args: &'a [Value], index: usize) -> Result<&'a Arc<Object>> {
    let value = at(args, index);
    value
        .as_object()
        .ok_or_else(|| wrong(name, index, "an object", value))
}

pub(crate) fn text<'a>(name: &str, args: &'a [Value], index: usize) -> Result<&'a Str> {
    match at(args, index) {
        Value::Str(s) => Ok(s),
        other => Err(wrong(name, index, "text", other)),
    }
}

/// A whole number: an integer, or a double without fraction (every number of a schemaless stream).
pub(crate) fn whole(name: &str, args: &[Value], index: usize) -> Result<i64> {
    let value = at(args, index);
    whole_of(value).ok_or_else(|| wrong(name, index, "a whole number", value))
}

const TWO_63: f64 = 9_223_372_036_854_775_808.0;

pub(crate) fn whole_of(value: &Value) -> Option<i64> {
    match value {
        Value::Int(i) | Value::Wide(i) => Some(*i),
        Value::Float(f) if f.trunc() == *f && (-TWO_63..TWO_63).contains(f) => Some(*f as i64),
        _ => None,
    }
}

/// The order of two numbers of any kind, exact beyond 2^53; NaN comes after everything.
pub(crate) fn compare_numbers(a: &Value, b: &Value) -> Ordering {
    use Value::{Float, Int, Wide};
    match (a, b) {
        (Int(x) | Wide(x), Int(y) | Wide(y)) => x.cmp(y),
        (Int(x) | Wide(x), Float(y)) => number::cmp_int_float(*x, *y).unwrap_or(Ordering::Less),
        (Float(x), Int(y) | Wide(y)) => {
            number::cmp_int_float(*y, *x).map_or(Ordering::Greater, Ordering::reverse)
        }
        (Float(x), Float(y)) => x.partial_cmp(y).unwrap_or_else(|| x.total_cmp(y)),
        _ => Ordering::Equal,
    }
}
