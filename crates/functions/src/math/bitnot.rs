//! `bitnot`: a whole number with all bits turned (two's complement).

use rekuiper_value::{Result, Value};

use crate::arguments::whole;
use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "bitnot",
    family: "math",
    args: &[Arg::new("number", Refuse::NOT_INT)],
    returns: "int",
    doc: "a whole number with all bits turned (two's complement).",
    example: ("bitnot(0)", "-1"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    Ok(Value::Int(!whole(DEF.name, args, 0)?))
}

crate::registry::cases! {
    scalar:
    "[255]" => "-256",
    "[1.5]" => "error",
    "[true]" => "error",
}
