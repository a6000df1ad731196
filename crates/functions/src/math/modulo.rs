//! `mod`: the remainder of a division, with the sign of the first argument; none for 0.

use rekuiper_value::{Result, Value};

use crate::operand::number;
use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "mod",
    family: "math",
    args: &[
        Arg::new("dividend", Refuse::NOT_NUMBER),
        Arg::new("by", Refuse::NOT_NUMBER),
    ],
    returns: "float",
    doc: "the remainder of a division, with the sign of the first argument; none for 0.",
    example: ("mod(7, 3)", "1"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let (d, b) = (number(DEF.name, args, 0)?, number(DEF.name, args, 1)?);
    Ok(Value::Float(d % b))
}

crate::registry::cases! {
    scalar:
    "[-7,3]" => "-1",
    "[7.5,2]" => "1.5",
    "[7,0]" => "error",
    r#"["1",1]"# => "error",
    "[1,null]" => "null",
}
