use rekuiper_value::{Result, Value};

use crate::registry::cases;
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "last_agg_hit_count",
    family: "other",
    pure: false,
    returns: "int",
    doc: "How many results a rule with a window or aggregates gave before this one. In HAVING \
          only results that passed are counted.",
    ..FunctionDef::scalar(eval)
};

fn eval(_args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    Ok(Value::Int(cx.row.agg_hit_count))
}

cases! { scalar: "[]" => "2" }
