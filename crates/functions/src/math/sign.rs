//! `sign`: -1, 0 or 1: the sign of the argument.

use rekuiper_value::{Result, Value};

use crate::operand::{NUMBER, number};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "sign",
    family: "math",
    args: NUMBER,
    returns: "int",
    doc: "-1, 0 or 1: the sign of the argument.",
    example: ("sign(-2.5)", "-1"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let x = number(DEF.name, args, 0)?;
    Ok(Value::Int(i64::from(x > 0.0) - i64::from(x < 0.0)))
}

crate::registry::cases! {
    scalar:
    "[0]" => "0",
    "[1e300]" => "1",
    "[-0.001]" => "-1",
    r#"["text"]"# => "error",
    "[null]" => "null",
}
