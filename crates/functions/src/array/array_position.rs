use rekuiper_value::{Result, Value};

use crate::arguments::{array, at};
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "array_position",
    family: "array",
    args: &[Arg::any("array"), Arg::any("value")],
    nulls: NullRule::Pass,
    hands_on: true,
    returns: "int",
    doc: "The place of the value's first occurrence, counted from 0; -1 where it does not occur.",
    example: ("array_position(array_create(\"x\", \"y\"), \"y\")", "1"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    if at(args, 0).is_null() {
        return Ok(Value::Int(-1));
    }
    let found = array(DEF.name, args, 0)?
        .iter()
        .position(|v| v == at(args, 1));
    Ok(Value::Int(found.map_or(-1, |i| i as i64)))
}

cases! {
    scalar: "[[1,[2],1],[2]]" => "1", "[[1],2]" => "-1", "[[null,1],null]" => "0",
    "[null,1]" => "-1", "[{\"k\":1},1]" => "error",
}
