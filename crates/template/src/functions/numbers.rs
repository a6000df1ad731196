//! Whole numbers (`add`, `div`) and doubles (`addf`, `round`). Arguments may be text.

use rekuiper_value::{Result, Value, cast};

use super::{Args, Function, MANY, f, text_value};

/// Longest list that until, untilStep and seq make.
const LIST_MAX: i64 = 1_000_000;

pub const FUNCTIONS: &[Function] = &[
    f("add", 0, MANY, |a| whole(a, 0, i64::checked_add)),
    f("add1", 1, 1, |a| Ok(Value::Int(a.whole(0).wrapping_add(1)))),
    f("sub", 2, 2, |a| Ok(Value::Int(a.whole(0).wrapping_sub(a.whole(1))))),
    f("mul", 1, MANY, |a| whole(a, 1, i64::checked_mul)),
    f("div", 2, 2, |a| divide(a, i64::wrapping_div)),
    f("mod", 2, 2, |a| divide(a, i64::wrapping_rem)),
    f("max", 1, MANY, |a| fold(a, i64::max)),
    f("biggest", 1, MANY, |a| fold(a, i64::max)),
    f("min", 1, MANY, |a| fold(a, i64::min)),
    f("addf", 0, MANY, |a| Ok(Value::Float((0..a.len()).map(|at| a.float(at)).sum()))),
    f("add1f", 1, 1, |a| Ok(Value::Float(a.float(0) + 1.0))),
    f("subf", 1, MANY, |a| floats(a, |x, y| x - y)),
    f("mulf", 1, MANY, |a| floats(a, |x, y| x * y)),
    f("divf", 1, MANY, |a| floats(a, |x, y| x / y)),
    f("maxf", 1, MANY, |a| floats(a, f64::max)),
    f("minf", 1, MANY, |a| floats(a, f64::min)),
    f("floor", 1, 1, |a| Ok(Value::Float(a.float(0).floor()))),
    f("ceil", 1, 1, |a| Ok(Value::Float(a.float(0).ceil()))),
    f("round", 2, 3, round),
    f("int", 1, 1, |a| Ok(Value::Int(a.whole(0)))),
    f("int64", 1, 1, |a| Ok(Value::Int(a.whole(0)))),
    f("float64", 1, 1, |a| Ok(Value::Float(a.float(0)))),
    f("atoi", 1, 1, |a| Ok(Value::Int(a.str(0)?.parse().unwrap_or(0)))),
    f("toDecimal", 1, 1, |a| Ok(Value::Int(i64::from_str_radix(&a.text(0), 8).unwrap_or(0)))),
    f("until", 1, 1, |a| {
        let n = a.int(0)?;
        steps(a, 0, n, if n < 0 { -1 } else { 1 })
    }),
    f("untilStep", 3, 3, |a| steps(a, a.int(0)?, a.int(1)?, a.int(2)?)),
    f("seq", 0, 3, seq),
];

/// sprig's toInt64: text is read with its prefix, doubles are cut, anything else is 0.
pub fn to_int(value: &Value) -> i64 {
    match value {
        Value::Int(i) | Value::Wide(i) => *i,
        Value::Float(f) => cast::whole_part(*f).unwrap_or(i64::MIN),
        Value::Bool(b) => i64::from(*b),
        Value::Str(s) => cast::parse_int(s).unwrap_or(0),
        _ => 0,
    }
}

pub fn to_float(value: &Value) -> f64 {
    match value {
        Value::Bool(b) => f64::from(u8::from(*b)),
        Value::Str(s) => cast::parse_float(s).unwrap_or(0.0),
        other => other.as_f64().unwrap_or(0.0),
    }
}

fn whole(a: &Args<'_, '_>, from: i64, step: fn(i64, i64) -> Option<i64>) -> Result<Value> {
    let mut sum = from;
    for at in 0..a.len() {
        sum = step(sum, a.whole(at)).ok_or_else(|| a.error("the result does not fit 64 bits"))?;
    }
    Ok(Value::Int(sum))
}

fn divide(a: &Args<'_, '_>, by: fn(i64, i64) -> i64) -> Result<Value> {
    match a.whole(1) {
        0 => Err(a.error("integer divide by zero")),
        n => Ok(Value::Int(by(a.whole(0), n))),
    }
}

fn fold(a: &Args<'_, '_>, step: fn(i64, i64) -> i64) -> Result<Value> {
    Ok(Value::Int((1..a.len()).fold(a.whole(0), |x, at| step(x, a.whole(at)))))
}

fn floats(a: &Args<'_, '_>, step: fn(f64, f64) -> f64) -> Result<Value> {
    Ok(Value::Float((1..a.len()).fold(a.float(0), |x, at| step(x, a.float(at)))))
}

/// Half (or what the third argument says) rounds away from zero.
fn round(a: &mut Args<'_, '_>) -> Result<Value> {
    let places = a.int(1)?.clamp(-300, 300) as i32;
    let on = if a.len() > 2 { a.float(2) } else { 0.5 };
    let scale = 10f64.powi(places);
    let scaled = scale * a.float(0);
    let fraction = scaled.abs().fract();
    let rounded = if fraction >= on { scaled.abs().ceil() } else { scaled.abs().floor() };
    Ok(Value::Float(rounded.copysign(scaled) / scale))
}

fn steps(a: &Args<'_, '_>, from: i64, to: i64, step: i64) -> Result<Value> {
    let count = match step {
        0 => 0,
        step => {
            (i128::from(to) - i128::from(from) + i128::from(step - step.signum()))
                / i128::from(step)
        }
    };
    if count > i128::from(LIST_MAX) {
        return Err(a.error(format!("more than {LIST_MAX} numbers")));
    }
    let all = (0..count.max(0) as i64).map(|at| Value::Int(from + at * step));
    Ok(Value::array(all.collect()))
}

/// `1 2 3` as text.
fn seq(a: &mut Args<'_, '_>) -> Result<Value> {
    let (from, step, to) = match a.len() {
        0 => return text_value(""),
        1 => (1, if a.int(0)? < 1 { -1 } else { 1 }, a.int(0)?),
        2 => (a.int(0)?, if a.int(1)? < a.int(0)? { -1 } else { 1 }, a.int(1)?),
        _ => (a.int(0)?, a.int(1)?, a.int(2)?),
    };
    match steps(a, from, to.saturating_add(step.signum()), step)? {
        Value::Array(all) => {
            let all: Vec<String> = all.iter().map(super::to_text).collect();
            text_value(all.join(" "))
        }
        other => Ok(other),
    }
}
