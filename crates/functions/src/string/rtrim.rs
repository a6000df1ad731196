//! `rtrim`: the text without white space at its end.

use rekuiper_value::{Result, Value};

use crate::operand::{TEXT, rendered};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "rtrim",
    family: "string",
    args: TEXT,
    returns: "text",
    doc: "the text without white space at its end.",
    example: (r#"rtrim("  x ")"#, r#""  x""#),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    Ok(Value::str(rendered(args, 0).trim_end()))
}

crate::registry::cases! {
    scalar:
    r#"["\t\na\u3000"]"# => r#""\t\na""#,
    "[12]" => r#""12""#,
    "[null]" => "null",
    "[{}]" => "null",
}
