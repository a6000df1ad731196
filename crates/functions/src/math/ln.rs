//! `ln`: the natural logarithm; an argument at or below 0 has none.

use rekuiper_value::{Result, Value};

use crate::operand::{NUMBER, number};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "ln",
    family: "math",
    args: NUMBER,
    returns: "float",
    doc: "the natural logarithm; an argument at or below 0 has none.",
    example: ("ln(1)", "0"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let x = number(DEF.name, args, 0)?;
    Ok(Value::Float(x.ln()))
}

crate::registry::cases! {
    scalar:
    "[0]" => "error",
    "[-1]" => "error",
    r#"["text"]"# => "error",
    "[null]" => "null",
}
