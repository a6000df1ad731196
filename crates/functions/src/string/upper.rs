//! `upper`: the text in upper case, character by character.

use rekuiper_value::{Result, Value};

use crate::operand::{TEXT, rendered};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "upper",
    family: "string",
    args: TEXT,
    returns: "text",
    doc: "the text in upper case, character by character.",
    example: (r#"upper("abc")"#, r#""ABC""#),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let text = rendered(args, 0);
    if text.is_ascii() {
        return Ok(Value::Str(text.as_str().to_ascii_uppercase().into()));
    }
    Ok(Value::Str(text.chars().map(simple_upper).collect()))
}

/// One character for one: where the full mapping has more (ß to SS), the character stays, but for
/// the Greek letters with iota below, which have a capital of their own.
fn simple_upper(c: char) -> char {
    let mut full = c.to_uppercase();
    match (full.next(), full.next()) {
        (Some(one), None) => one,
        _ => match c {
            '\u{1f80}'..='\u{1f87}' | '\u{1f90}'..='\u{1f97}' | '\u{1fa0}'..='\u{1fa7}' => {
                char::from_u32(c as u32 + 8).unwrap_or(c)
            }
            '\u{1fb3}' | '\u{1fc3}' | '\u{1ff3}' => char::from_u32(c as u32 + 9).unwrap_or(c),
            _ => c,
        },
    }
}

crate::registry::cases! {
    scalar:
    r#"["été"]"# => r#""ÉTÉ""#,
    r#"["straße"]"# => r#""STRAßE""#,
    r#"[{"k":1}]"# => r#""MAP[K:1]""#,
    r#"["ᾳ"]"# => r#""ᾼ""#,
    "[null]" => "null",
    "[{}]" => "null",
}
