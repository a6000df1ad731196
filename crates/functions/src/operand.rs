//! Operands of the scalar families: numbers, text of any value, points in time.

use std::borrow::Cow;

use jiff::ZonedDateTime;
use rekuiper_value::{Error, Result, Str, Value, text, time};

use crate::arguments::{at, wrong};
use crate::{Arg, Cx, Refuse};

pub(crate) const NUMBER: &[Arg] = &[Arg::new("number", Refuse::NOT_NUMBER)];
pub(crate) const TEXT: &[Arg] = &[Arg::new("text", Refuse::NOT_TEXT)];
pub(crate) const TIME: &[Arg] = &[Arg::new("time", Refuse::NOT_TIME)];
pub(crate) const TWO_INTS: &[Arg] = &[
    Arg::new("left", Refuse::NOT_INT),
    Arg::new("right", Refuse::NOT_INT),
];

/// The most bytes that a function makes of one row by padding or unpacking: what comes in from
/// outside may not decide how much memory is taken.
pub(crate) const MOST_BYTES: usize = 64 << 20;

/// A number as a double.
pub(crate) fn number(name: &str, args: &[Value], index: usize) -> Result<f64> {
    let value = at(args, index);
    value
        .as_f64()
        .ok_or_else(|| wrong(name, index, "a number", value))
}

/// Any value as text: bytes are the text they hold, other kinds are rendered as Go prints them.
pub(crate) fn rendered(args: &[Value], index: usize) -> Str {
    match at(args, index) {
        Value::Bytes(bytes) => String::from_utf8_lossy(bytes).as_ref().into(),
        other => text::render(other),
    }
}

/// The bytes of text or bytea; other kinds are rendered.
pub(crate) fn raw(args: &[Value], index: usize) -> Cow<'_, [u8]> {
    match at(args, index) {
        Value::Bytes(bytes) => Cow::Borrowed(bytes),
        Value::Str(s) => Cow::Borrowed(s.as_bytes()),
        other => Cow::Owned(text::render(other).as_bytes().to_vec()),
    }
}

/// The bytes of text or bytea; other kinds are an error.
pub(crate) fn bytes<'a>(name: &str, args: &'a [Value], index: usize) -> Result<&'a [u8]> {
    match at(args, index) {
        Value::Bytes(bytes) => Ok(bytes),
        Value::Str(s) => Ok(s.as_bytes()),
        other => Err(wrong(name, index, "text or bytes", other)),
    }
}

/// Null, missing, `[]` or `{}`: what functions with an answer of their own for "nothing" look for.
pub(crate) fn nothing(args: &[Value]) -> bool {
    args.iter().any(|v| match v {
        Value::Array(a) => a.is_empty(),
        Value::Object(o) => o.is_empty(),
        other => other.is_null(),
    })
}

/// A point in time: milliseconds, a datetime or text.
pub(crate) fn instant(
    name: &str,
    args: &[Value],
    index: usize,
    cx: &Cx<'_>,
) -> Result<ZonedDateTime> {
    time::to_time(at(args, index), cx.zone)
        .map_err(|e| Error::new(format!("{name}: argument {}: {e}", index + 1)))
}
