use rekuiper_value::{Error, Result, Value};

use super::MADE_MAX;
use crate::arguments::{at, whole};
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "repeat",
    family: "array",
    args: &[Arg::any("value"), Arg::any("count")],
    hands_on: true,
    returns: "array",
    doc: "An array that holds the value so many times, at most a million.",
    example: ("repeat(\"x\", 3)", "[\"x\",\"x\",\"x\"]"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let count = whole(DEF.name, args, 1)?;
    match u64::try_from(count) {
        Ok(n) if n <= MADE_MAX => Ok(Value::array(vec![at(args, 0).clone(); n as usize])),
        _ => Err(Error::new(format!(
            "repeat: the count must be 0 to {MADE_MAX}, not {count}"
        ))),
    }
}

cases! {
    scalar: "[5,2]" => "[5,5]", "[true,0]" => "[]", "[\"x\",null]" => "null",
    "[\"x\",-1]" => "error", "[\"x\",1.5]" => "error", "[\"x\",\"3\"]" => "error",
    "[\"x\",1e15]" => "error",
}
