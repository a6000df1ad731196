//! `atan2`: the angle of the point x, y in radians.

use rekuiper_value::{Result, Value};

use crate::operand::number;
use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "atan2",
    family: "math",
    args: &[
        Arg::new("y", Refuse::NOT_NUMBER),
        Arg::new("x", Refuse::NOT_NUMBER),
    ],
    returns: "float",
    doc: "the angle of the point x, y in radians.",
    example: ("atan2(0, 1)", "0"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let (y, x) = (number(DEF.name, args, 0)?, number(DEF.name, args, 1)?);
    Ok(Value::Float(y.atan2(x)))
}

crate::registry::cases! {
    scalar:
    "[1,0]" => "1.5707963267948966",
    r#"["1",1]"# => "error",
    "[1,null]" => "null",
}
