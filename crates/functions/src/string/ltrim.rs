//! `ltrim`: the text without white space at its start.

use rekuiper_value::{Result, Value};

use crate::operand::{TEXT, rendered};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "ltrim",
    family: "string",
    args: TEXT,
    returns: "text",
    doc: "the text without white space at its start.",
    example: (r#"ltrim("  x ")"#, r#""x ""#),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    Ok(Value::str(rendered(args, 0).trim_start()))
}

crate::registry::cases! {
    scalar:
    r#"["\t\na\u3000"]"# => r#""a　""#,
    "[12]" => r#""12""#,
    "[null]" => "null",
    "[{}]" => "null",
}
