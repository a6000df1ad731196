//! `tanh`: the hyperbolic tangent.

use rekuiper_value::{Result, Value};

use crate::operand::{NUMBER, number};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "tanh",
    family: "math",
    args: NUMBER,
    returns: "float",
    doc: "the hyperbolic tangent.",
    example: ("tanh(0)", "0"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let x = number(DEF.name, args, 0)?;
    Ok(Value::Float(x.tanh()))
}

crate::registry::cases! {
    scalar:
    "[-50]" => "-1",
    r#"["text"]"# => "error",
    "[null]" => "null",
}
