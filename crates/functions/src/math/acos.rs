//! `acos`: the arc cosine in radians; null outside -1 to 1.

use rekuiper_value::{Result, Value};

use crate::operand::{NUMBER, number};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "acos",
    family: "math",
    args: NUMBER,
    returns: "float",
    doc: "the arc cosine in radians; null outside -1 to 1.",
    example: ("acos(1)", "0"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let x = number(DEF.name, args, 0)?;
    Ok(if x.abs() > 1.0 {
        Value::Null
    } else {
        Value::Float(x.acos())
    })
}

crate::registry::cases! {
    scalar:
    "[-1]" => "3.141592653589793",
    "[2]" => "null",
    r#"["text"]"# => "error",
    "[null]" => "null",
}
