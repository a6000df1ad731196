//! `ceiling`: the smallest whole number that is not below the argument.

use rekuiper_value::{Result, Value};

use crate::operand::{NUMBER, number};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "ceiling",
    aliases: &["ceil"],
    family: "math",
    args: NUMBER,
    returns: "float",
    doc: "the smallest whole number that is not below the argument.",
    example: ("ceiling(1.2)", "2"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let x = number(DEF.name, args, 0)?;
    Ok(Value::Float(x.ceil()))
}

crate::registry::cases! {
    scalar:
    "[-1.2]" => "-1",
    "[1e20]" => "100000000000000000000",
    r#"["text"]"# => "error",
    "[null]" => "null",
}
