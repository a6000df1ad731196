//! `radians`: degrees as radians.

use rekuiper_value::{Result, Value};

use crate::operand::{NUMBER, number};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "radians",
    family: "math",
    args: NUMBER,
    returns: "float",
    doc: "degrees as radians.",
    example: ("radians(180)", "3.141592653589793"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let x = number(DEF.name, args, 0)?;
    Ok(Value::Float(x.to_radians()))
}

crate::registry::cases! {
    scalar:
    "[-90]" => "-1.5707963267948966",
    r#"["text"]"# => "error",
    "[null]" => "null",
}
