//! `sqrt`: the square root; a negative argument has none.

use rekuiper_value::{Result, Value};

use crate::operand::{NUMBER, number};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "sqrt",
    family: "math",
    args: NUMBER,
    returns: "float",
    doc: "the square root; a negative argument has none.",
    example: ("sqrt(16)", "4"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let x = number(DEF.name, args, 0)?;
    Ok(Value::Float(x.sqrt()))
}

crate::registry::cases! {
    scalar:
    "[-1]" => "error",
    "[0.25]" => "0.5",
    r#"["text"]"# => "error",
    "[null]" => "null",
}
