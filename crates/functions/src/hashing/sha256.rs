//! `sha256`: the SHA-256 sum of a text, as lower-case hexadecimal digits.

use rekuiper_value::{Result, Value};
use sha2::{Digest, Sha256};

use crate::operand::{TEXT, raw};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "sha256",
    family: "hashing",
    args: TEXT,
    returns: "text",
    doc: "the SHA-256 sum of a text, as lower-case hexadecimal digits.",
    example: (
        r#"sha256("a")"#,
        r#""ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb""#,
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    Ok(Value::from(super::hex(&Sha256::digest(raw(args, 0)))))
}

crate::registry::cases! {
    scalar:
    r#"["a"]"# => r#""ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb""#,
    "[null]" => "null",
    "[[]]" => "null",
}
