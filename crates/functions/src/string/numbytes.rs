//! `numbytes`: the number of bytes of a text in UTF-8; 0 for null.

use rekuiper_value::{Result, Value};

use crate::operand::{TEXT, nothing, raw};
use crate::{Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "numbytes",
    family: "string",
    args: TEXT,
    nulls: NullRule::Pass,
    returns: "int",
    doc: "the number of bytes of a text in UTF-8; 0 for null.",
    example: (r#"numbytes("世界")"#, "6"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let size = if nothing(args) { 0 } else { raw(args, 0).len() };
    Ok(Value::Int(size as i64))
}

crate::registry::cases! {
    scalar:
    r#"["é"]"# => "2",
    "[null]" => "0",
    "[[]]" => "0",
    r#"[[1,"b"]]"# => "5",
}
