use rekuiper_value::{Result, Value};

use crate::arguments::{array, at};
use crate::registry::cases;
use crate::seen::Seen;
use crate::{Arg, Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "array_contains_any",
    family: "array",
    args: &[Arg::any("array"), Arg::any("values")],
    nulls: NullRule::Pass,
    returns: "bool",
    doc: "Whether the first array holds any element of the second. A null first array holds none.",
    example: (
        "array_contains_any(array_create(1, 2), array_create(9, 1))",
        "true",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    if at(args, 0).is_null() {
        return Ok(Value::Bool(false));
    }
    let (items, wanted) = (array(DEF.name, args, 0)?, array(DEF.name, args, 1)?);
    let seen = Seen::of(items);
    Ok(Value::Bool(wanted.iter().any(|v| seen.contains(v))))
}

cases! {
    scalar: "[[1,2],[3,2]]" => "true", "[[1],[]]" => "false", "[null,[1]]" => "false",
    "[[1],null]" => "error",
}
