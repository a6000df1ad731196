//! `sha384`: the SHA-384 sum of a text, as lower-case hexadecimal digits.

use rekuiper_value::{Result, Value};
use sha2::{Digest, Sha384};

use crate::operand::{TEXT, raw};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "sha384",
    family: "hashing",
    args: TEXT,
    returns: "text",
    doc: "the SHA-384 sum of a text, as lower-case hexadecimal digits.",
    example: (
        r#"sha384("a")"#,
        concat!(
            "\"54a59b9f22b0b80880d8427e548b7c23abd873486e1f035dce9cd697e85175033caa88e6d57bc35",
            "efae0b5afd3145f31\""
        ),
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    Ok(Value::from(super::hex(&Sha384::digest(raw(args, 0)))))
}

crate::registry::cases! {
    scalar:
    r#"["a"]"# => concat!(
        "\"54a59b9f22b0b80880d8427e548b7c23abd873486e1f035dce9cd697e85175033caa88e6d57bc35",
        "efae0b5afd3145f31\""
    ),
    "[null]" => "null",
    "[[]]" => "null",
}
