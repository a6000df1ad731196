//! `dec2hex`: a whole number in hexadecimal digits behind 0x.

use rekuiper_value::{Result, Value};

use crate::arguments::whole;
use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "dec2hex",
    family: "transform",
    args: &[Arg::new(
        "number",
        Refuse(Refuse::FLOAT.0 | Refuse::BOOLEAN.0 | Refuse::UNIT.0 | Refuse::COMPARISON.0),
    )],
    returns: "text",
    doc: "a whole number in hexadecimal digits behind 0x.",
    example: ("dec2hex(255)", r#""0xff""#),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let number = whole(DEF.name, args, 0)?;
    let sign = if number < 0 { "-" } else { "" };
    Ok(Value::from(format!("0x{sign}{:x}", number.unsigned_abs())))
}

crate::registry::cases! {
    scalar:
    "[0]" => r#""0x0""#,
    "[-16]" => r#""0x-10""#,
    "[1.5]" => "error",
    r#"["16"]"# => "error",
    "[null]" => "null",
}
