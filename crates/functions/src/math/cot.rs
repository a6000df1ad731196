//! `cot`: the cotangent of an angle in radians; 0 has none.

use rekuiper_value::{Error, Result, Value};

use crate::operand::{NUMBER, number};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "cot",
    family: "math",
    args: NUMBER,
    returns: "float",
    doc: "the cotangent of an angle in radians; 0 has none.",
    example: ("cot(1)", "0.6420926159343306"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let x = number(DEF.name, args, 0)?;
    if x == 0.0 {
        return Err(Error::new("cot: out of range: 0 has no cotangent"));
    }
    Ok(Value::Float(1.0 / x.tan()))
}

crate::registry::cases! {
    scalar:
    "[0]" => "error",
    "[true]" => "error",
    "[null]" => "null",
}
