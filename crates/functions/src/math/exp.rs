//! `exp`: e to the power of the argument.

use rekuiper_value::{Result, Value};

use crate::operand::{NUMBER, number};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "exp",
    family: "math",
    args: NUMBER,
    returns: "float",
    doc: "e to the power of the argument.",
    example: ("exp(0)", "1"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let x = number(DEF.name, args, 0)?;
    Ok(Value::Float(x.exp()))
}

crate::registry::cases! {
    scalar:
    "[-800]" => "0",
    "[710]" => "error",
    r#"["text"]"# => "error",
    "[null]" => "null",
}
