//! `tan`: the tangent of an angle in radians.

use rekuiper_value::{Result, Value};

use crate::operand::{NUMBER, number};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "tan",
    family: "math",
    args: NUMBER,
    returns: "float",
    doc: "the tangent of an angle in radians.",
    example: ("tan(0)", "0"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let x = number(DEF.name, args, 0)?;
    Ok(Value::Float(x.tan()))
}

crate::registry::cases! {
    scalar:
    "[0]" => "0",
    r#"["text"]"# => "error",
    "[null]" => "null",
}
