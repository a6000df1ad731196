use rekuiper_value::{Result, Value};

use crate::registry::cases;
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "last_hit_count",
    family: "other",
    pure: false,
    returns: "int",
    doc: "How many rows the rule gave before this one. In WHERE only rows that passed are \
          counted; two calls in one row agree.",
    ..FunctionDef::scalar(eval)
};

fn eval(_args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    Ok(Value::Int(cx.row.hit_count))
}

cases! { scalar: "[]" => "3" }
