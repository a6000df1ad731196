//! `bitxor`: the bits that are set in one of two whole numbers.

use rekuiper_value::{Result, Value};

use crate::arguments::whole;
use crate::operand::TWO_INTS;
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "bitxor",
    family: "math",
    args: TWO_INTS,
    returns: "int",
    doc: "the bits that are set in one of two whole numbers.",
    example: ("bitxor(6, 3)", "5"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let (left, right) = (whole(DEF.name, args, 0)?, whole(DEF.name, args, 1)?);
    Ok(Value::Int(left ^ right))
}

crate::registry::cases! {
    scalar:
    "[-1,255]" => "-256",
    "[1.5,1]" => "error",
    r#"["3",1]"# => "error",
    "[null,1]" => "null",
}
