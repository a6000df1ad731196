//! `encode`: a text in base64.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rekuiper_value::{Result, Value};

use crate::arguments::text;
use crate::{Arg, ArgKind, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "encode",
    family: "transform",
    args: &[
        Arg::new("text", Refuse::NOT_TEXT),
        Arg::new("encoding", Refuse::NOT_TEXT_LITERAL),
    ],
    check: Some(check),
    returns: "text",
    doc: "a text in base64.",
    example: (r#"encode("abc", "base64")"#, r#""YWJj""#),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    Ok(Value::from(
        STANDARD.encode(text(DEF.name, args, 0)?.as_bytes()),
    ))
}

pub(super) fn check(args: &[ArgKind]) -> std::result::Result<(), String> {
    match args.get(1) {
        Some(ArgKind::Literal(Value::Str(word))) if word != "base64" => {
            Err(format!("unknown encoding {word}: only base64 is known"))
        }
        _ => Ok(()),
    }
}

crate::registry::cases! {
    scalar:
    r#"["a?>~","base64"]"# => r#""YT8+fg==""#,
    r#"["","base64"]"# => r#""""#,
    r#"[5,"base64"]"# => "error",
    r#"[null,"base64"]"# => "null",
}
