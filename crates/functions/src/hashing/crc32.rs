//! `crc32`: the CRC-32 (IEEE) of a text, as lower-case hexadecimal digits without leading zeros.

use rekuiper_value::{Result, Value};

use crate::operand::{TEXT, raw};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "crc32",
    family: "hashing",
    args: TEXT,
    returns: "text",
    doc: "the CRC-32 (IEEE) of a text, as lower-case hexadecimal digits without leading zeros.",
    example: (r#"crc32("a")"#, r#""e8b7be43""#),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let sum = crc32fast::hash(&raw(args, 0));
    Ok(Value::from(format!("{sum:x}")))
}

crate::registry::cases! {
    scalar:
    r#"["a"]"# => r#""e8b7be43""#,
    r#"["hello world"]"# => r#""d4a1185""#,
    r#"[""]"# => r#""0""#,
    "[[1]]" => r#""4c2f32b8""#,
}
