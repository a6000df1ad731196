//! `floor`: the largest whole number that is not above the argument.

use rekuiper_value::{Result, Value};

use crate::operand::{NUMBER, number};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "floor",
    family: "math",
    args: NUMBER,
    returns: "float",
    doc: "the largest whole number that is not above the argument.",
    example: ("floor(1.8)", "1"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let x = number(DEF.name, args, 0)?;
    Ok(Value::Float(x.floor()))
}

crate::registry::cases! {
    scalar:
    "[-1.8]" => "-2",
    r#"["text"]"# => "error",
    "[null]" => "null",
}
