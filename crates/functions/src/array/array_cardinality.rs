use rekuiper_value::{Result, Value};

use crate::arguments::{array, at};
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "array_cardinality",
    family: "array",
    args: &[Arg::any("array")],
    nulls: NullRule::Pass,
    returns: "int",
    doc: "The number of elements that are not null. A null or missing array has 0.",
    example: ("array_cardinality(array_create(1, \"x\"))", "2"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    if at(args, 0).is_null() {
        return Ok(Value::Int(0));
    }
    let items = array(DEF.name, args, 0)?;
    Ok(Value::Int(
        items.iter().filter(|v| !v.is_null()).count() as i64
    ))
}

cases! { scalar: "[[1,null,2]]" => "2", "[[]]" => "0", "[null]" => "0", "[\"x\"]" => "error" }
