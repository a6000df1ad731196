//! `lpad`: the text behind a number of spaces.

use rekuiper_value::{Error, Result, Value};

use crate::arguments::whole;
use crate::operand::{MOST_BYTES, rendered};
use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "lpad",
    family: "string",
    args: &[
        Arg::new("text", Refuse::NOT_TEXT),
        Arg::new("count", Refuse::NOT_INT),
    ],
    returns: "text",
    doc: "the text behind a number of spaces.",
    example: (r#"lpad("x", 3)"#, r#""   x""#),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let mut text = spaces(DEF.name, args)?;
    text.push_str(&rendered(args, 0));
    Ok(Value::from(text))
}

/// The spaces asked for; none of a negative or senseless number.
pub(super) fn spaces(name: &str, args: &[Value]) -> Result<String> {
    let count = whole(name, args, 1)?;
    match usize::try_from(count) {
        Ok(n) if n <= MOST_BYTES => Ok(" ".repeat(n)),
        _ => Err(Error::new(format!("{name}: cannot add {count} spaces"))),
    }
}

crate::registry::cases! {
    scalar:
    r#"["x",0]"# => r#""x""#,
    r#"["x",1.5]"# => "error",
    r#"["x",-1]"# => "error",
    r#"["x",1e15]"# => "error",
    r#"["x",null]"# => "null",
    "[5,1]" => r#"" 5""#,
}
