use rekuiper_value::{Result, Value};

use crate::arguments::{array, at};
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "array_last_position",
    family: "array",
    args: &[Arg::any("array"), Arg::any("value")],
    nulls: NullRule::Pass,
    hands_on: true,
    returns: "int",
    doc: "The place of the value's last occurrence, counted from 0; -1 where it does not occur.",
    example: ("array_last_position(array_create(2, 1, 2), 2)", "2"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    if at(args, 0).is_null() {
        return Ok(Value::Int(-1));
    }
    let found = array(DEF.name, args, 0)?
        .iter()
        .rposition(|v| v == at(args, 1));
    Ok(Value::Int(found.map_or(-1, |i| i as i64)))
}

cases! {
    scalar: "[[\"x\",\"y\",\"x\"],\"x\"]" => "2", "[[1],\"1\"]" => "-1", "[null,1]" => "-1",
    "[\"x\",\"x\"]" => "error",
}
