use rekuiper_value::{Result, Value};

use crate::arguments::{array, at};
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "array_remove",
    family: "array",
    args: &[Arg::any("array"), Arg::any("value")],
    nulls: NullRule::Pass,
    hands_on: true,
    returns: "array",
    doc: "The array without the elements that equal the value. A null array gives null.",
    example: ("array_remove(array_create(1, 2, 1), 1)", "[2]"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    if at(args, 0).is_null() {
        return Ok(Value::Null);
    }
    let items = array(DEF.name, args, 0)?;
    Ok(Value::array(
        items
            .iter()
            .filter(|v| *v != at(args, 1))
            .cloned()
            .collect(),
    ))
}

cases! {
    scalar: "[[\"x\",\"y\"],\"x\"]" => "[\"y\"]", "[[null,1],null]" => "[1]", "[[],1]" => "[]",
    "[null,1]" => "null", "[\"x\",\"x\"]" => "error",
}
