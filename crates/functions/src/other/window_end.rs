use rekuiper_value::{Result, Value};

use crate::registry::cases;
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "window_end",
    family: "other",
    pure: false,
    returns: "int",
    doc: "The end of the window in milliseconds; null without a window.",
    ..FunctionDef::scalar(eval)
};

fn eval(_args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    Ok(cx.row.window_end.map_or(Value::Null, Value::Int))
}

cases! { scalar: "[]" => "null" }
