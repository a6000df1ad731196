//! `sinh`: the hyperbolic sine.

use rekuiper_value::{Result, Value};

use crate::operand::{NUMBER, number};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "sinh",
    family: "math",
    args: NUMBER,
    returns: "float",
    doc: "the hyperbolic sine.",
    example: ("sinh(0)", "0"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let x = number(DEF.name, args, 0)?;
    Ok(Value::Float(x.sinh()))
}

crate::registry::cases! {
    scalar:
    "[0]" => "0",
    "[1000]" => "error",
    r#"["text"]"# => "error",
    "[null]" => "null",
}
