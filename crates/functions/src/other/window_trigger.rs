use rekuiper_value::{Result, Value};

use crate::registry::cases;
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "window_trigger",
    family: "other",
    pure: false,
    returns: "int",
    doc: "When the window gave its result, in milliseconds: of a sliding window the time of the \
          row that caused it; null without a window.",
    ..FunctionDef::scalar(eval)
};

fn eval(_args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    Ok(cx.row.window_trigger.map_or(Value::Null, Value::Int))
}

cases! { scalar: "[]" => "null" }
