//! `conv`: a number written in another base.

use rekuiper_value::{Error, Result, Value};

use crate::arguments::{at, whole, wrong};
use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "conv",
    family: "math",
    args: &[
        Arg::any("number"),
        Arg::new("from", Refuse::NOT_INT_LITERAL),
        Arg::new("to", Refuse::NOT_INT_LITERAL),
    ],
    returns: "text",
    doc: "a number or the start of a text read in one base (2 to 36) and written in another, \
          in upper case; a negative target base shows the sign, else negative numbers are \
          shown in 64 bits.",
    example: (r#"conv("a", 16, 2)"#, r#""1010""#),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let (from, to) = (whole(DEF.name, args, 1)?, whole(DEF.name, args, 2)?);
    let bases = 2..=36;
    if !bases.contains(&from.unsigned_abs()) || !bases.contains(&to.unsigned_abs()) {
        return Ok(Value::Null);
    }
    let text = match at(args, 0) {
        Value::Str(s) => s.to_string(),
        Value::Int(i) => i.to_string(),
        Value::Float(f) => format!("{f}"),
        other => return Err(wrong(DEF.name, 0, "a number or text", other)),
    };
    let too_big = || {
        Error::new(format!(
            "conv: {text:?} in base {from} takes more than 64 bits"
        ))
    };
    let (negative, size) = read(&text, from.unsigned_abs() as u32).ok_or_else(too_big)?;
    let mut bits = match (negative, from < 0) {
        (false, true) => size.min(i64::MAX as u64),
        (true, true) => size.min(1 << 63).wrapping_neg(),
        (true, false) => size.wrapping_neg(),
        (false, false) => size,
    };
    let minus = to < 0 && (bits as i64) < 0;
    if minus {
        bits = bits.wrapping_neg();
    }
    Ok(Value::from(write(minus, bits, to.unsigned_abs())))
}

/// Sign and size of the longest valid start; None beyond 64 bits.
fn read(text: &str, base: u32) -> Option<(bool, u64)> {
    let text = text.trim();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut size: u64 = 0;
    for digit in digits.chars().map_while(|c| c.to_digit(base)) {
        size = size
            .checked_mul(u64::from(base))?
            .checked_add(u64::from(digit))?;
    }
    Some((negative, size))
}

fn write(minus: bool, mut bits: u64, base: u64) -> String {
    let mut digits = Vec::new();
    loop {
        let digit = char::from_digit((bits % base) as u32, base as u32).unwrap_or('0');
        digits.push(digit.to_ascii_uppercase());
        bits /= base;
        if bits == 0 {
            break;
        }
    }
    if minus {
        digits.push('-');
    }
    digits.iter().rev().collect()
}

crate::registry::cases! {
    scalar:
    r#"["ff",16,2]"# => r#""11111111""#,
    r#"["-17",10,-16]"# => r#""-11""#,
    r#"["-1",10,16]"# => r#""FFFFFFFFFFFFFFFF""#,
    r#"["12abc",10,10]"# => r#""12""#,
    r#"["",10,10]"# => r#""0""#,
    r#"["  42",10,10]"# => r#""42""#,
    "[255,10,36]" => r#""73""#,
    r#"["10",1,10]"# => "null",
    r#"["1ffffffffffffffff",16,10]"# => "error",
    "[true,10,2]" => "error",
    r#"["ä",36,10]"# => r#""0""#,
    r#"["1",10,-9e15]"# => "null",
}
