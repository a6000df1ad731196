//! `lower`: the text in lower case, character by character.

use rekuiper_value::{Result, Value};

use crate::operand::{TEXT, rendered};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "lower",
    family: "string",
    args: TEXT,
    returns: "text",
    doc: "the text in lower case, character by character.",
    example: (r#"lower("ABC")"#, r#""abc""#),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let text = rendered(args, 0);
    if text.is_ascii() {
        return Ok(Value::Str(text.as_str().to_ascii_lowercase().into()));
    }
    // The first character of a longer mapping is the simple one: İ gives i, not i and a dot.
    Ok(Value::Str(
        text.chars()
            .map(|c| c.to_lowercase().next().unwrap_or(c))
            .collect(),
    ))
}

crate::registry::cases! {
    scalar:
    r#"["ÉTÉ"]"# => r#""été""#,
    r#"["İ"]"# => r#""i""#,
    "[1000000]" => r#""1e+06""#,
    r#"[[1,"B"]]"# => r#""[1 b]""#,
    "[null]" => "null",
    "[{}]" => "null",
}
