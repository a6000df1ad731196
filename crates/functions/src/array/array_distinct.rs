use rekuiper_value::{Result, Value};

use crate::arguments::array;
use crate::registry::cases;
use crate::seen::Seen;
use crate::{Arg, Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "array_distinct",
    family: "array",
    args: &[Arg::any("array")],
    returns: "array",
    doc: "The array without repetitions, in the order of first sight.",
    example: ("array_distinct(array_create(3, 1, 3, 1.0))", "[3,1]"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let mut seen = Seen::default();
    let items = array(DEF.name, args, 0)?;
    Ok(Value::array(
        items.iter().filter(|v| seen.insert(v)).cloned().collect(),
    ))
}

cases! {
    scalar: "[[1,\"1\",1,null,null]]" => "[1,\"1\",null]", "[[]]" => "null", "[null]" => "null",
    "[{\"k\":1}]" => "error",
}
