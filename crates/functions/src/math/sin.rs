//! `sin`: the sine of an angle in radians.

use rekuiper_value::{Result, Value};

use crate::operand::{NUMBER, number};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "sin",
    family: "math",
    args: NUMBER,
    returns: "float",
    doc: "the sine of an angle in radians.",
    example: ("sin(0)", "0"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let x = number(DEF.name, args, 0)?;
    Ok(Value::Float(x.sin()))
}

crate::registry::cases! {
    scalar:
    "[1.5707963267948966]" => "1",
    r#"["text"]"# => "error",
    "[null]" => "null",
}
