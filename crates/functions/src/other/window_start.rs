use rekuiper_value::{Result, Value};

use crate::registry::cases;
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "window_start",
    family: "other",
    pure: false,
    returns: "int",
    doc: "The start of the window in milliseconds; null without a window.",
    ..FunctionDef::scalar(eval)
};

fn eval(_args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    Ok(cx.row.window_start.map_or(Value::Null, Value::Int))
}

cases! { scalar: "[]" => "null" }
