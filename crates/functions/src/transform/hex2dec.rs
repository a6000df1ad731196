//! `hex2dec`: the whole number of hexadecimal digits, with or without 0x.

use rekuiper_value::{Error, Result, Value};

use crate::arguments::text;
use crate::operand::TEXT;
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "hex2dec",
    family: "transform",
    args: TEXT,
    returns: "int",
    doc: "the whole number of hexadecimal digits, with or without 0x.",
    example: (r#"hex2dec("0xff")"#, "255"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let digits = text(DEF.name, args, 0)?;
    let plain = digits.strip_prefix("0x").unwrap_or(digits);
    i64::from_str_radix(plain, 16).map(Value::Int).map_err(|_| {
        Error::new(format!(
            "hex2dec: {digits:?} is no hexadecimal number of 63 bits"
        ))
    })
}

crate::registry::cases! {
    scalar:
    r#"["7fffffffffffffff"]"# => "9223372036854775807",
    r#"["-1"]"# => "-1",
    r#"["0x-10"]"# => "-16",
    r#"["8000000000000000"]"# => "error",
    r#"["0X10"]"# => "error",
    r#"[""]"# => "error",
    "[16]" => "error",
    "[null]" => "null",
}
