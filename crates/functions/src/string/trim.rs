//! `trim`: the text without white space at both ends.

use rekuiper_value::{Result, Value};

use crate::operand::{TEXT, rendered};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "trim",
    family: "string",
    args: TEXT,
    returns: "text",
    doc: "the text without white space at both ends.",
    example: (r#"trim("  x ")"#, r#""x""#),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    Ok(Value::str(rendered(args, 0).trim()))
}

crate::registry::cases! {
    scalar:
    r#"["\t\na\u3000"]"# => r#""a""#,
    "[12]" => r#""12""#,
    "[null]" => "null",
    "[{}]" => "null",
}
