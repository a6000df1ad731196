use rekuiper_value::{Result, Value};

use crate::arguments::{at, wrong};
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef, NullRule, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "delay",
    family: "other",
    args: &[
        Arg::new("milliseconds", Refuse::NOT_NUMBER),
        Arg::any("value"),
    ],
    nulls: NullRule::NullToNull,
    hands_on: true,
    pure: false,
    returns: "any",
    doc: "Waits so many milliseconds, then gives the second argument.",
    example: ("delay(1, \"x\")", "\"x\""),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    let ms = at(args, 0).as_f64();
    let ms = ms.ok_or_else(|| wrong(DEF.name, 0, "a number of milliseconds", at(args, 0)))?;
    if ms >= 1.0 {
        cx.host.delay(ms as i64);
    }
    Ok(at(args, 1).clone())
}

cases! {
    scalar: "[1.9,[1]]" => "[1]", "[-5,2]" => "2", "[null,1]" => "null", "[1,null]" => "null",
    "[\"1\",1]" => "error", "[true,1]" => "error",
}
