use rekuiper_value::{Result, Value};

use crate::arguments::at;
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "bypass",
    family: "other",
    args: &[Arg::any("value")],
    variadic: true,
    nulls: NullRule::Pass,
    hands_on: true,
    returns: "any",
    doc: "The first argument, unchanged.",
    example: ("bypass(5, 1, 2)", "5"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    Ok(at(args, 0).clone())
}

cases! {
    scalar: "[[],1]" => "[]", "[null,1]" => "null", "[9007199254740993]" => "9007199254740993",
}
