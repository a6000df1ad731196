use rekuiper_value::{Result, Value};

use crate::arguments::array;
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "array_flatten",
    family: "array",
    args: &[Arg::any("array")],
    returns: "array",
    doc: "Elements that are arrays are replaced by their elements, one level deep.",
    example: (
        "array_flatten(array_create(array_create(1, 2), 3))",
        "[1,2,3]",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let mut flat = Vec::new();
    for item in array(DEF.name, args, 0)?.iter() {
        match item {
            Value::Array(inner) => flat.extend_from_slice(inner),
            other => flat.push(other.clone()),
        }
    }
    Ok(Value::array(flat))
}

cases! {
    scalar: "[[[1,[2]],3,null]]" => "[1,[2],3,null]", "[[]]" => "null", "[7]" => "error",
}
