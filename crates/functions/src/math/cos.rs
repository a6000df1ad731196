//! `cos`: the cosine of an angle in radians.

use rekuiper_value::{Result, Value};

use crate::operand::{NUMBER, number};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "cos",
    family: "math",
    args: NUMBER,
    returns: "float",
    doc: "the cosine of an angle in radians.",
    example: ("cos(0)", "1"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let x = number(DEF.name, args, 0)?;
    Ok(Value::Float(x.cos()))
}

crate::registry::cases! {
    scalar:
    "[0]" => "1",
    r#"["text"]"# => "error",
    "[null]" => "null",
}
