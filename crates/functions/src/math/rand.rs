//! `rand`: a random number from 0 up to 1, another one each time.

use rekuiper_value::{Result, Value};

use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "rand",
    family: "math",
    pure: false,
    returns: "float",
    doc: "a random number from 0 up to 1, another one each time.",
    example: ("", ""),
    ..FunctionDef::scalar(eval)
};

fn eval(_args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    // 53 bits are all that a double below 1 can show.
    Ok(Value::Float(
        (cx.host.random() >> 11) as f64 / (1u64 << 53) as f64,
    ))
}

crate::registry::cases! {
    scalar:
    "[]" => "0.6180339887498948",
}
