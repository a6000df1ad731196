use rekuiper_value::{Result, Value};

use crate::registry::cases;
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "event_time",
    family: "other",
    pure: false,
    returns: "int",
    doc: "The row's timestamp in milliseconds: that of its TIMESTAMP column in a rule on event \
          time, else its arrival. Over a window, the window's end.",
    ..FunctionDef::scalar(eval)
};

fn eval(_args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    Ok(Value::Int(cx.row.event))
}

cases! { scalar: "[]" => "1000" }
