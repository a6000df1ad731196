//! `degrees`: radians as degrees.

use rekuiper_value::{Result, Value};

use crate::operand::{NUMBER, number};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "degrees",
    family: "math",
    args: NUMBER,
    returns: "float",
    doc: "radians as degrees.",
    example: ("degrees(pi())", "180"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let x = number(DEF.name, args, 0)?;
    Ok(Value::Float(x.to_degrees()))
}

crate::registry::cases! {
    scalar:
    "[3.141592653589793]" => "180",
    r#"["text"]"# => "error",
    "[null]" => "null",
}
