use rekuiper_value::{Result, Value};

use crate::arguments::array;
use crate::registry::cases;
use crate::seen::Seen;
use crate::{Arg, Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "array_intersect",
    family: "array",
    args: &[Arg::any("array1"), Arg::any("array2")],
    returns: "array",
    doc: "The elements that both arrays hold, without repetitions, in the order of the second.",
    example: (
        "array_intersect(array_create(1, 2), array_create(2, 3))",
        "[2]",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let (first, second) = (array(DEF.name, args, 0)?, array(DEF.name, args, 1)?);
    let (known, mut given) = (Seen::of(first), Seen::default());
    let both = second
        .iter()
        .filter(|v| known.contains(v) && given.insert(v));
    Ok(Value::array(both.cloned().collect()))
}

cases! {
    scalar: "[[1,2,2,3],[3,2,3]]" => "[3,2]", "[[1],[2]]" => "[]", "[[],[1]]" => "null",
    "[[1],\"x\"]" => "error",
}
