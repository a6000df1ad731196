//! `pi`: the number pi.

use rekuiper_value::{Result, Value};

use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "pi",
    family: "math",
    returns: "float",
    doc: "the number pi.",
    example: ("pi()", "3.141592653589793"),
    ..FunctionDef::scalar(eval)
};

fn eval(_args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    Ok(Value::Float(std::f64::consts::PI))
}

crate::registry::cases! {
    scalar:
    "[]" => "3.141592653589793",
}
