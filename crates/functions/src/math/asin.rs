//! `asin`: the arc sine in radians; null outside -1 to 1.

use rekuiper_value::{Result, Value};

use crate::operand::{NUMBER, number};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "asin",
    family: "math",
    args: NUMBER,
    returns: "float",
    doc: "the arc sine in radians; null outside -1 to 1.",
    example: ("asin(0)", "0"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let x = number(DEF.name, args, 0)?;
    Ok(if x.abs() > 1.0 {
        Value::Null
    } else {
        Value::Float(x.asin())
    })
}

crate::registry::cases! {
    scalar:
    "[1]" => "1.5707963267948966",
    "[-1.0001]" => "null",
    r#"["text"]"# => "error",
    "[null]" => "null",
}
