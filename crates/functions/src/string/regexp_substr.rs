//! `regexp_substr`: the first match of a regular expression in a text, or empty text.

use rekuiper_value::{Result, Value};

use crate::context::regex;
use crate::operand::rendered;
use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "regexp_substr",
    aliases: &["regexp_substring"],
    family: "string",
    args: &[
        Arg::new("text", Refuse::NOT_TEXT),
        Arg::new("pattern", Refuse::NOT_TEXT),
    ],
    returns: "text",
    doc: "the first match of a regular expression in a text, or empty text.",
    example: (r#"regexp_substr("order 66", "[0-9]+")"#, r#""66""#),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let pattern = regex(&rendered(args, 1))?;
    let text = rendered(args, 0);
    Ok(Value::str(
        pattern.find(&text).map_or("", |hit| hit.as_str()),
    ))
}

crate::registry::cases! {
    scalar:
    r#"["abc","z"]"# => r#""""#,
    r#"["aXbXc","X.*?X"]"# => r#""XbX""#,
    r#"["x","("]"# => "error",
    r#"[null,"x"]"# => "null",
}
