use rekuiper_value::{Result, Value};

use crate::arguments::array;
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "array_concat",
    family: "array",
    args: &[Arg::any("array")],
    variadic: true,
    nulls: NullRule::Pass,
    returns: "array",
    doc: "The arrays one after the other. A null array counts as empty.",
    example: (
        "array_concat(array_create(1, 2), array_create(3))",
        "[1,2,3]",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let mut all = Vec::new();
    for (at, arg) in args.iter().enumerate() {
        if !arg.is_null() {
            all.extend_from_slice(array(DEF.name, args, at)?);
        }
    }
    Ok(Value::array(all))
}

cases! { scalar: "[[1],null,[2]]" => "[1,2]", "[null,[]]" => "[]", "[[1],5]" => "error" }
