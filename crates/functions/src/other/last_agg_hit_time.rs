use rekuiper_value::{Result, Value};

use crate::registry::cases;
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "last_agg_hit_time",
    family: "other",
    pure: false,
    returns: "int",
    doc: "When a rule with a window or aggregates gave its last result, in milliseconds; 0 before \
          the first.",
    ..FunctionDef::scalar(eval)
};

fn eval(_args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    Ok(Value::Int(cx.row.agg_hit_time))
}

cases! { scalar: "[]" => "800" }
