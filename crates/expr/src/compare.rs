//! Order and equality of values, as the comparison operators see them.

use std::cmp::Ordering;

use rekuiper_value::{Result, Value, number};

use crate::CmpOp;
use crate::arith::unfit;

/// The order of two values: `Ok(None)` with a null (or NaN) on either side; an error where the
/// kinds cannot be compared. Numbers compare exactly over all kinds, text by bytes.
pub fn order(left: &Value, right: &Value, sign: &str) -> Result<Option<Ordering>> {
    Ok(match (left, right) {
        (Value::Float(a), Value::Float(b)) => a.partial_cmp(b),
        (Value::Missing | Value::Null, _) | (_, Value::Missing | Value::Null) => None,
        (Value::Int(a) | Value::Wide(a), Value::Int(b) | Value::Wide(b)) => Some(a.cmp(b)),
        (Value::Int(a) | Value::Wide(a), Value::Float(b)) => number::cmp_int_float(*a, *b),
        (Value::Float(a), Value::Int(b) | Value::Wide(b)) => {
            number::cmp_int_float(*b, *a).map(Ordering::reverse)
        }
        (Value::Str(a), Value::Str(b)) => Some(a.as_bytes().cmp(b.as_bytes())),
        (Value::Time(a), Value::Time(b)) => Some(a.timestamp().cmp(&b.timestamp())),
        (Value::Time(a), other) => Some(a.timestamp().cmp(&instant(a, other, left, right, sign)?)),
        _ => return Err(unfit(left, sign, right)),
    })
}

/// The point in time that a number (milliseconds) or a text stands for to the right of a datetime.
/// To the left of one they cannot be compared, as in eKuiper.
fn instant(
    beside: &jiff::ZonedDateTime,
    value: &Value,
    left: &Value,
    right: &Value,
    sign: &str,
) -> Result<jiff::Timestamp> {
    if !value.is_number() && !matches!(value, Value::Str(_)) {
        return Err(unfit(left, sign, right));
    }
    Ok(rekuiper_value::time::to_time(value, beside.time_zone())?.timestamp())
}

/// The comparison operators, three-valued: `None` where a side is null. Booleans know only
/// equality.
pub fn compare(op: CmpOp, left: &Value, right: &Value) -> Result<Option<bool>> {
    if let (Value::Bool(a), Value::Bool(b)) = (left, right) {
        return match op {
            CmpOp::Eq => Ok(Some(a == b)),
            CmpOp::Ne => Ok(Some(a != b)),
            _ => Err(unfit(left, op.sign(), right)),
        };
    }
    Ok(order(left, right, op.sign())?.map(|found| op.holds(found)))
}

/// `value BETWEEN low AND high`, three-valued.
pub fn between(value: &Value, low: &Value, high: &Value) -> Result<Option<bool>> {
    let from = order(value, low, ">=")?;
    let to = order(value, high, "<=")?;
    Ok(match (from, to) {
        (Some(a), Some(b)) => Some(a != Ordering::Less && b != Ordering::Greater),
        _ => None,
    })
}
