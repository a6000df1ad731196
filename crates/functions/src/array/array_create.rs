use rekuiper_value::{Result, Value};

use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "array_create",
    family: "array",
    args: &[Arg::any("value").opt()],
    variadic: true,
    nulls: NullRule::Pass,
    hands_on: true,
    returns: "array",
    doc: "An array of the arguments. Null arguments are left out; nothing left gives null.",
    example: ("array_create(1, \"x\", true)", "[1,\"x\",true]"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let items: Vec<Value> = args.iter().filter(|v| !v.is_null()).cloned().collect();
    Ok(if items.is_empty() {
        Value::Null
    } else {
        Value::array(items)
    })
}

cases! {
    scalar: "[1,null,[2]]" => "[1,[2]]", "[null]" => "null", "[]" => "null",
    "[9007199254740993]" => "[9007199254740993]",
}
