//! `regexp_matches`: whether a regular expression (RE2 syntax) matches anywhere in a text; false
//! for null.

use rekuiper_value::{Result, Value};

use crate::context::regex;
use crate::operand::{nothing, rendered};
use crate::{Arg, Cx, FunctionDef, NullRule, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "regexp_matches",
    family: "string",
    args: &[
        Arg::new("text", Refuse::NOT_TEXT),
        Arg::new("pattern", Refuse::NOT_TEXT),
    ],
    nulls: NullRule::Pass,
    returns: "bool",
    doc: "whether a regular expression (RE2 syntax) matches anywhere in a text; false for null.",
    example: (r#"regexp_matches("dev-9", "[0-9]+")"#, "true"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    if nothing(args) {
        return Ok(Value::Bool(false));
    }
    let pattern = regex(&rendered(args, 1))?;
    Ok(Value::Bool(pattern.is_match(&rendered(args, 0))))
}

crate::registry::cases! {
    scalar:
    r#"["abc","^b"]"# => "false",
    r#"["世","\\p{Han}"]"# => "true",
    r#"["abc","("]"# => "error",
    r#"[null,"x"]"# => "false",
    r#"[12,"^1"]"# => "true",
}
