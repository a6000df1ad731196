//! Go's own functions beside the comparisons: print and its like, len, index, slice, escaping.

use rekuiper_value::{Result, Value};

use super::{Args, Function, MANY, f, text_value, to_text};
use crate::gofmt;

pub const FUNCTIONS: &[Function] = &[
    f("print", 0, MANY, |a| text_value(gofmt::sprint(&a.args))),
    f("println", 0, MANY, |a| text_value(gofmt::sprintln(&a.args))),
    f("printf", 1, MANY, |a| text_value(gofmt::sprintf(a.str(0)?, &a.args[1..])?)),
    f("len", 1, 1, len),
    f("index", 1, MANY, index),
    f("slice", 1, 4, slice),
    f("html", 0, MANY, |a| {
        text_value(escape(&joined(a), |c| match c {
            '\0' => Some("\u{fffd}".into()),
            '"' => Some("&#34;".into()),
            '\'' => Some("&#39;".into()),
            '&' => Some("&amp;".into()),
            '<' => Some("&lt;".into()),
            '>' => Some("&gt;".into()),
            _ => None,
        }))
    }),
    f("js", 0, MANY, |a| {
        text_value(escape(&joined(a), |c| match c {
            '\\' => Some("\\\\".into()),
            '\'' => Some("\\'".into()),
            '"' => Some("\\\"".into()),
            '<' | '>' | '&' | '=' => Some(format!("\\u{:04X}", c as u32)),
            c if (c as u32) < 0x20 => Some(format!("\\u{:04X}", c as u32)),
            _ => None,
        }))
    }),
    f("urlquery", 0, MANY, |a| text_value(url(&joined(a)))),
    f("call", 1, MANY, |a| Err(a.error("no value here is a function"))),
];

/// One text as it is, anything else as print has it.
fn joined(a: &Args<'_, '_>) -> String {
    match a.args.as_slice() {
        [one] => to_text(one),
        all => gofmt::sprint(all),
    }
}

fn escape(text: &str, of: impl Fn(char) -> Option<String>) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match of(c) {
            Some(escaped) => out += &escaped,
            None => out.push(c),
        }
    }
    out
}

/// Query escaping: blanks are `+`.
pub fn url(text: &str) -> String {
    let mut out = String::new();
    for b in text.bytes() {
        match b {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' | b'~' => {
                out.push(char::from(b));
            }
            b' ' => out.push('+'),
            b => out += &format!("%{b:02X}"),
        }
    }
    out
}

fn len(a: &mut Args<'_, '_>) -> Result<Value> {
    let len = match &a.args[0] {
        Value::Str(s) => s.len(),
        Value::Bytes(b) => b.len(),
        Value::Array(items) => items.len(),
        Value::Object(members) => members.len(),
        Value::Missing | Value::Null => return Err(a.error("len of nil pointer")),
        other => return Err(a.error(format!("len of type {}", other.kind_name()))),
    };
    Ok(Value::Int(len as i64))
}

fn index(a: &mut Args<'_, '_>) -> Result<Value> {
    let mut value = a.any(0);
    for at in 1..a.len() {
        let key = &a.args[at];
        let number = |len: usize| match key {
            Value::Int(i) => match usize::try_from(*i) {
                Ok(i) if i < len => Ok(i),
                _ => Err(a.error(format!("index out of range: {i}"))),
            },
            other => {
                Err(a.error(format!("cannot index slice/array with type {}", other.kind_name())))
            }
        };
        value = match &value {
            Value::Array(items) => items[number(items.len())?].clone(),
            Value::Str(s) => Value::Int(i64::from(s.as_bytes()[number(s.len())?])),
            Value::Bytes(b) => Value::Int(i64::from(b[number(b.len())?])),
            Value::Object(members) => match key {
                Value::Str(key) => members.get(key).cloned().unwrap_or_default(),
                other => {
                    return Err(
                        a.error(format!("value has type {}; should be string", other.kind_name()))
                    );
                }
            },
            Value::Missing | Value::Null => return Err(a.error("index of untyped nil")),
            other => {
                return Err(a.error(format!("can't index item of type {}", other.kind_name())));
            }
        };
    }
    Ok(value)
}

fn slice(a: &mut Args<'_, '_>) -> Result<Value> {
    let len = match &a.args[0] {
        Value::Array(items) => items.len(),
        Value::Str(s) => s.len(),
        Value::Bytes(b) => b.len(),
        Value::Missing | Value::Null => return Err(a.error("slice of untyped nil")),
        other => return Err(a.error(format!("can't slice item of type {}", other.kind_name()))),
    };
    let mut range = [0, len];
    for at in 1..a.len().min(3) {
        let i = a.int(at)?;
        range[at - 1] = match usize::try_from(i) {
            Ok(i) if i <= len => i,
            _ => return Err(a.error(format!("index out of range: {i}"))),
        };
    }
    let [from, to] = range;
    if from > to {
        return Err(a.error(format!("invalid slice index: {from} > {to}")));
    }
    Ok(match &a.args[0] {
        Value::Array(items) => Value::array(items[from..to].to_vec()),
        Value::Bytes(b) => Value::bytes(&b[from..to]),
        other => {
            let text = to_text(other);
            let bytes = text.as_bytes().get(from..to).unwrap_or(&[]);
            Value::str(String::from_utf8_lossy(bytes).as_ref())
        }
    })
}
