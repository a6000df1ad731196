//! `sha1`: the SHA-1 sum of a text, as lower-case hexadecimal digits.

use rekuiper_value::{Result, Value};
use sha1::{Digest, Sha1};

use crate::operand::{TEXT, raw};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "sha1",
    family: "hashing",
    args: TEXT,
    returns: "text",
    doc: "the SHA-1 sum of a text, as lower-case hexadecimal digits.",
    example: (
        r#"sha1("a")"#,
        r#""86f7e437faa5a7fce15d1ddcb9eaeaea377667b8""#,
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    Ok(Value::from(super::hex(&Sha1::digest(raw(args, 0)))))
}

crate::registry::cases! {
    scalar:
    r#"["a"]"# => r#""86f7e437faa5a7fce15d1ddcb9eaeaea377667b8""#,
    "[null]" => "null",
    "[[]]" => "null",
}
