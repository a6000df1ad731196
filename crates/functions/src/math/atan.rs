//! `atan`: the arc tangent in radians.

use rekuiper_value::{Result, Value};

use crate::operand::{NUMBER, number};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "atan",
    family: "math",
    args: NUMBER,
    returns: "float",
    doc: "the arc tangent in radians.",
    example: ("atan(0)", "0"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let x = number(DEF.name, args, 0)?;
    Ok(Value::Float(x.atan()))
}

crate::registry::cases! {
    scalar:
    "[1]" => "0.7853981633974483",
    r#"["text"]"# => "error",
    "[null]" => "null",
}
