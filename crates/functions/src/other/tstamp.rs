use rekuiper_value::{Result, Value};

use crate::registry::cases;
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "tstamp",
    family: "other",
    pure: false,
    returns: "int",
    doc: "The present time in milliseconds.",
    ..FunctionDef::scalar(eval)
};

fn eval(_args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    Ok(Value::Int(cx.now_ms))
}

cases! { scalar: "[]" => "1700000000123" }
