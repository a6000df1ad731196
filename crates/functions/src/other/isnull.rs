use rekuiper_value::{Result, Value};

use crate::arguments::at;
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "isnull",
    family: "other",
    args: &[Arg::any("value")],
    nulls: NullRule::Pass,
    hands_on: true,
    returns: "bool",
    doc: "True for null and for what the row does not have; false for everything else, also \
          `[]`, `{}`, \"\" and 0.",
    example: ("isnull(array_create())", "true"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    Ok(Value::Bool(at(args, 0).is_null()))
}

cases! { scalar: "[null]" => "true", "[[]]" => "false", "[{}]" => "false", "[0]" => "false" }
