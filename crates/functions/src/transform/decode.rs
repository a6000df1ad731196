//! `decode`: the bytes of a text in base64.

use rekuiper_value::cast::base64_decode;
use rekuiper_value::{Error, Result, Value};

use crate::arguments::text;
use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "decode",
    family: "transform",
    args: &[
        Arg::new("text", Refuse::NOT_TEXT),
        Arg::new("encoding", Refuse::NOT_TEXT_LITERAL),
    ],
    check: Some(super::encode::check),
    returns: "bytea",
    doc: "the bytes of a text in base64.",
    example: (r#"decode("YWJj", "base64")"#, r#""YWJj""#),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let decoded = base64_decode(text(DEF.name, args, 0)?);
    decoded
        .map(Value::bytes)
        .ok_or_else(|| Error::new("decode: argument 1 is not base64"))
}

crate::registry::cases! {
    scalar:
    r#"["YWJj\n","base64"]"# => r#""YWJj""#,
    r#"["YWJ","base64"]"# => "error",
    r#"["!!","base64"]"# => "error",
    r#"[5,"base64"]"# => "error",
    r#"[null,"base64"]"# => "null",
}
