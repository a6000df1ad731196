use rekuiper_value::{Result, Value};

use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "coalesce",
    family: "other",
    args: &[Arg::any("value")],
    variadic: true,
    nulls: NullRule::Pass,
    hands_on: true,
    returns: "any",
    doc: "The first argument that is neither null nor missing; null where there is none.",
    example: (
        "coalesce(element_at(object_construct(\"a\", 1), \"b\"), 9)",
        "9",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    Ok(args
        .iter()
        .find(|v| !v.is_null())
        .cloned()
        .unwrap_or(Value::Null))
}

cases! {
    scalar: "[null,[],1]" => "[]", "[null,\"\"]" => "\"\"", "[null]" => "null",
    "[false,1]" => "false",
}
