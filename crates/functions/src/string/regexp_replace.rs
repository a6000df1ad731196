//! `regexp_replace`: the text with all matches of a regular expression replaced; `$1` and `${1}`
//! stand for groups.

use rekuiper_value::{Result, Value};

use crate::context::regex;
use crate::operand::rendered;
use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "regexp_replace",
    family: "string",
    args: &[
        Arg::new("text", Refuse::NOT_TEXT),
        Arg::new("pattern", Refuse::NOT_TEXT),
        Arg::new("replacement", Refuse::NOT_TEXT),
    ],
    returns: "text",
    doc: "the text with all matches of a regular expression replaced; `$1` and `${1}` stand \
          for groups.",
    example: (r##"regexp_replace("a1b22", "[0-9]+", "#")"##, r#""a#b#""#),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let pattern = regex(&rendered(args, 1))?;
    let replaced = pattern
        .replace_all(&rendered(args, 0), rendered(args, 2).as_str())
        .into_owned();
    Ok(Value::from(replaced))
}

crate::registry::cases! {
    scalar:
    r#"["abc","","-"]"# => r#""-a-b-c-""#,
    r#"["john smith","(\\w+) (\\w+)","$2 $1"]"# => r#""smith john""#,
    r#"["ab","(a)","${1}x"]"# => r#""axb""#,
    r#"["x","*","y"]"# => "error",
    r#"["x","x",null]"# => "null",
}
