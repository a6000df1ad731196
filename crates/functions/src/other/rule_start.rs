use rekuiper_value::{Result, Value};

use crate::registry::cases;
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "rule_start",
    family: "other",
    pure: false,
    returns: "int",
    doc: "When the rule was started, in milliseconds.",
    ..FunctionDef::scalar(eval)
};

fn eval(_args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    Ok(Value::Int(cx.rule_start))
}

cases! { scalar: "[]" => "1700000000000" }
