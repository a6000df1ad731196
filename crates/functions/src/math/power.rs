//! `power`: the first argument to the power of the second.

use rekuiper_value::{Result, Value};

use crate::operand::number;
use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "power",
    aliases: &["pow"],
    family: "math",
    args: &[
        Arg::new("base", Refuse::NOT_NUMBER),
        Arg::new("exponent", Refuse::NOT_NUMBER),
    ],
    returns: "float",
    doc: "the first argument to the power of the second.",
    example: ("power(2, 10)", "1024"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let (b, e) = (number(DEF.name, args, 0)?, number(DEF.name, args, 1)?);
    Ok(Value::Float(b.powf(e)))
}

crate::registry::cases! {
    scalar:
    "[0,0]" => "1",
    "[-8,0.5]" => "error",
    "[10,400]" => "error",
    r#"["1",1]"# => "error",
    "[1,null]" => "null",
}
