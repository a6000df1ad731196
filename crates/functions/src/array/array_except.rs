use rekuiper_value::{Result, Value};

use crate::arguments::{array, at};
use crate::registry::cases;
use crate::seen::Seen;
use crate::{Arg, Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "array_except",
    family: "array",
    args: &[Arg::any("array"), Arg::any("without")],
    nulls: NullRule::Pass,
    returns: "array",
    doc: "The elements of the first array that are not in the second, without repetitions. \
          A null second array counts as empty; a null first one gives null.",
    example: (
        "array_except(array_create(1, 2, 3), array_create(2))",
        "[1,3]",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    if at(args, 0).is_null() {
        return Ok(Value::Null);
    }
    let items = array(DEF.name, args, 0)?;
    let mut seen = match at(args, 1) {
        without if without.is_null() => Seen::default(),
        _ => Seen::of(array(DEF.name, args, 1)?),
    };
    Ok(Value::array(
        items.iter().filter(|v| seen.insert(v)).cloned().collect(),
    ))
}

cases! {
    scalar: "[[1,2,2,3],[2]]" => "[1,3]", "[[1,1],null]" => "[1]", "[null,[1]]" => "null",
    "[[],[1]]" => "[]", "[[1],\"x\"]" => "error",
}
