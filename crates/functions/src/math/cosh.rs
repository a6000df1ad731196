//! `cosh`: the hyperbolic cosine.

use rekuiper_value::{Result, Value};

use crate::operand::{NUMBER, number};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "cosh",
    family: "math",
    args: NUMBER,
    returns: "float",
    doc: "the hyperbolic cosine.",
    example: ("cosh(0)", "1"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let x = number(DEF.name, args, 0)?;
    Ok(Value::Float(x.cosh()))
}

crate::registry::cases! {
    scalar:
    "[0]" => "1",
    "[1000]" => "error",
    r#"["text"]"# => "error",
    "[null]" => "null",
}
