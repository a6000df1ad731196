use rekuiper_value::{Result, Value};

use crate::arguments::at;
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "cardinality",
    family: "array",
    args: &[Arg::any("array")],
    nulls: NullRule::Pass,
    returns: "int",
    doc: "The number of elements, nulls included. Anything that is no array has 0.",
    example: ("cardinality(array_create(1, 2, 3))", "3"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    Ok(Value::Int(
        at(args, 0).as_array().map_or(0, |a| a.len() as i64),
    ))
}

cases! { scalar: "[[null,1]]" => "2", "[null]" => "0", "[{\"k\":1}]" => "0", "[\"ab\"]" => "0" }
