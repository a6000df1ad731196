use rekuiper_value::{Result, Value};

use crate::registry::cases;
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "last_hit_time",
    family: "other",
    pure: false,
    returns: "int",
    doc: "When the rule gave its last row, in milliseconds; 0 before the first. In WHERE only \
          rows that passed count.",
    ..FunctionDef::scalar(eval)
};

fn eval(_args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    Ok(Value::Int(cx.row.hit_time))
}

cases! { scalar: "[]" => "900" }
