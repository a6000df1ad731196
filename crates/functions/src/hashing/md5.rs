//! `md5`: the MD5 sum of a text, as lower-case hexadecimal digits.

use md5::{Digest, Md5};
use rekuiper_value::{Result, Value};

use crate::operand::{TEXT, raw};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "md5",
    family: "hashing",
    args: TEXT,
    returns: "text",
    doc: "the MD5 sum of a text, as lower-case hexadecimal digits.",
    example: (r#"md5("a")"#, r#""0cc175b9c0f1b6a831c399e269772661""#),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    Ok(Value::from(super::hex(&Md5::digest(raw(args, 0)))))
}

crate::registry::cases! {
    scalar:
    r#"["a"]"# => r#""0cc175b9c0f1b6a831c399e269772661""#,
    "[null]" => "null",
    "[[]]" => "null",
}
