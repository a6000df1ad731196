//! `+ - * / %` and the bitwise operators on values.

use rekuiper_value::{Error, Result, Value, text};

use crate::{ArithOp, BitOp};

impl ArithOp {
    pub fn sign(self) -> &'static str {
        match self {
            ArithOp::Add => "+",
            ArithOp::Sub => "-",
            ArithOp::Mul => "*",
            ArithOp::Div => "/",
            ArithOp::Mod => "%",
        }
    }
}

/// Null with anything is null; two integers give an integer (wrapping, division cut toward zero);
/// other numbers a double. Division by zero and other kinds are errors.
pub fn arith(op: ArithOp, left: &Value, right: &Value) -> Result<Value> {
    match (left, right) {
        (Value::Float(a), Value::Float(b)) => floats(op, *a, *b),
        (Value::Missing | Value::Null, _) | (_, Value::Missing | Value::Null) => Ok(Value::Null),
        (Value::Int(a), Value::Int(b)) => ints(op, *a, *b),
        _ => match (left.as_f64(), right.as_f64()) {
            (Some(a), Some(b)) => floats(op, a, b),
            _ => Err(unfit(left, op.sign(), right)),
        },
    }
}

/// The error of an operator on kinds it does not take.
pub fn unfit(left: &Value, sign: &str, right: &Value) -> Error {
    Error::new(format!(
        "invalid operation {}({}) {sign} {}({})",
        left.kind_name(),
        text::render(left),
        right.kind_name(),
        text::render(right)
    ))
}

fn ints(op: ArithOp, a: i64, b: i64) -> Result<Value> {
    Ok(Value::Int(match op {
        ArithOp::Add => a.wrapping_add(b),
        ArithOp::Sub => a.wrapping_sub(b),
        ArithOp::Mul => a.wrapping_mul(b),
        ArithOp::Div if b == 0 => return Err(Error::new("divided by zero")),
        ArithOp::Mod if b == 0 => return Err(Error::new("divided by zero")),
        ArithOp::Div => a.wrapping_div(b),
        ArithOp::Mod => a.wrapping_rem(b),
    }))
}

#[inline]
fn floats(op: ArithOp, a: f64, b: f64) -> Result<Value> {
    Ok(Value::Float(match op {
        ArithOp::Add => a + b,
        ArithOp::Sub => a - b,
        ArithOp::Mul => a * b,
        ArithOp::Div | ArithOp::Mod if b == 0.0 => return Err(Error::new("divided by zero")),
        ArithOp::Div => a / b,
        ArithOp::Mod => a % b,
    }))
}

/// Unary minus.
pub fn neg(value: &Value) -> Result<Value> {
    match value {
        Value::Missing | Value::Null => Ok(Value::Null),
        Value::Int(i) => Ok(Value::Int(i.wrapping_neg())),
        Value::Wide(i) => Ok(i
            .checked_neg()
            .map_or(Value::Float(-(*i as f64)), Value::Wide)),
        Value::Float(f) => Ok(Value::Float(-f)),
        other => Err(Error::new(format!(
            "cannot take the negative of a {}",
            other.kind_name()
        ))),
    }
}

/// Bitwise operators: whole numbers or booleans. With null the answer is false, as in eKuiper.
pub fn bit(op: BitOp, left: &Value, right: &Value) -> Result<Value> {
    if left.is_null() || right.is_null() {
        return Ok(Value::Bool(false));
    }
    let sign = match op {
        BitOp::And => "&",
        BitOp::Or => "|",
        BitOp::Xor => "^",
    };
    if let (Value::Bool(a), Value::Bool(b)) = (left, right) {
        return Ok(Value::Bool(match op {
            BitOp::And => *a & *b,
            BitOp::Or => *a | *b,
            BitOp::Xor => *a ^ *b,
        }));
    }
    match (whole(left), whole(right)) {
        (Some(a), Some(b)) => Ok(Value::Int(match op {
            BitOp::And => a & b,
            BitOp::Or => a | b,
            BitOp::Xor => a ^ b,
        })),
        _ => Err(unfit(left, sign, right)),
    }
}

fn whole(value: &Value) -> Option<i64> {
    match value {
        Value::Int(i) | Value::Wide(i) => Some(*i),
        Value::Float(f) if f.trunc() == *f && f.abs() < 9e18 => Some(*f as i64),
        _ => None,
    }
}
