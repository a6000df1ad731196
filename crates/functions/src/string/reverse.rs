//! `reverse`: the characters of the text from last to first.

use rekuiper_value::{Result, Value};

use crate::operand::{TEXT, rendered};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "reverse",
    family: "string",
    args: TEXT,
    returns: "text",
    doc: "the characters of the text from last to first.",
    example: (r#"reverse("abc")"#, r#""cba""#),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    Ok(Value::Str(rendered(args, 0).chars().rev().collect()))
}

crate::registry::cases! {
    scalar:
    r#"["héllo 世界"]"# => r#""界世 olléh""#,
    "[true]" => r#""eurt""#,
    "[null]" => "null",
    "[{}]" => "null",
}
