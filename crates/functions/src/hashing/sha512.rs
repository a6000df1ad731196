//! `sha512`: the SHA-512 sum of a text, as lower-case hexadecimal digits.

use rekuiper_value::{Result, Value};
use sha2::{Digest, Sha512};

use crate::operand::{TEXT, raw};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "sha512",
    family: "hashing",
    args: TEXT,
    returns: "text",
    doc: "the SHA-512 sum of a text, as lower-case hexadecimal digits.",
    example: (
        r#"sha512("a")"#,
        concat!(
            "\"1f40fc92da241694750979ee6cf582f2d5d7d28e18335de05abc54d0560e0f5302860c652bf08d5",
            "60252aa5e74210546f369fbbbce8c12cfc7957b2652fe9a75\""
        ),
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    Ok(Value::from(super::hex(&Sha512::digest(raw(args, 0)))))
}

crate::registry::cases! {
    scalar:
    r#"["a"]"# => concat!(
        "\"1f40fc92da241694750979ee6cf582f2d5d7d28e18335de05abc54d0560e0f5302860c652bf08d5",
        "60252aa5e74210546f369fbbbce8c12cfc7957b2652fe9a75\""
    ),
    "[null]" => "null",
    "[[]]" => "null",
}
