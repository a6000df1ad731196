use rekuiper_value::{Result, Value};

use crate::registry::cases;
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "rule_id",
    family: "other",
    pure: false,
    returns: "text",
    doc: "The id of the rule.",
    ..FunctionDef::scalar(eval)
};

fn eval(_args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    Ok(Value::from(cx.rule_id))
}

cases! { scalar: "[]" => "\"rule7\"" }
