use rekuiper_value::{Result, Value};

use crate::arguments::{array, at};
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "array_contains",
    family: "array",
    args: &[Arg::any("array"), Arg::any("value")],
    nulls: NullRule::Pass,
    hands_on: true,
    returns: "bool",
    doc: "Whether the array holds the value. A null array holds nothing.",
    example: ("array_contains(array_create(1, 2), 2)", "true"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    if at(args, 0).is_null() {
        return Ok(Value::Bool(false));
    }
    Ok(Value::Bool(array(DEF.name, args, 0)?.contains(at(args, 1))))
}

cases! {
    scalar: "[[1,{\"k\":1}],{\"k\":1}]" => "true", "[[\"1\"],1]" => "false",
    "[[null],null]" => "true", "[null,1]" => "false", "[5,5]" => "error",
}
