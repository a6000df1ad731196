//! `cast`: the value as another type: bigint, float, string, boolean, datetime or bytea.

use rekuiper_value::cast::{CastType, cast};
use rekuiper_value::{Error, Result, Value};

use crate::arguments::{at, text};
use crate::{Arg, ArgKind, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "cast",
    family: "transform",
    args: &[Arg::any("value"), Arg::new("type", Refuse::NOT_TEXT)],
    check: Some(check),
    returns: "any",
    doc: "the value as another type: bigint, float, string, boolean, datetime or bytea.",
    example: (r#"cast("0x1F", "bigint")"#, "31"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    let word = text(DEF.name, args, 1)?;
    let to = CastType::by_name(word).ok_or_else(|| Error::new(unknown(word)))?;
    cast(at(args, 0), to, cx.zone)
}

fn unknown(word: &str) -> String {
    format!(
        "cast: unknown type {word}: bigint, float, string, boolean, datetime or bytea is wanted"
    )
}

fn check(args: &[ArgKind]) -> std::result::Result<(), String> {
    match args.get(1) {
        Some(ArgKind::Literal(Value::Str(word))) if CastType::by_name(word).is_none() => {
            Err(unknown(word))
        }
        _ => Ok(()),
    }
}

crate::registry::cases! {
    scalar:
    r#"[-5.9,"bigint"]"# => "-5",
    r#"["12.7","bigint"]"# => "error",
    r#"[1e21,"string"]"# => r#""1000000000000000000000""#,
    r#"["tRuE","boolean"]"# => "error",
    r#"[1500,"datetime"]"# => r#""1970-01-01T00:00:01.5Z""#,
    r#"[5,"BIGINT"]"# => "error",
    r#"[[],"string"]"# => "null",
    r#"["aGk=","bytea"]"# => r#""aGk=""#,
}
