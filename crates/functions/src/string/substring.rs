//! `substring`: the characters of a text from a position (from 0) up to, without, an end position
//! or the end of the text.

use rekuiper_value::{Error, Result, Value};

use crate::arguments::whole;
use crate::operand::rendered;
use crate::{Arg, ArgKind, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "substring",
    family: "string",
    args: &[
        Arg::new("text", Refuse::NOT_TEXT),
        Arg::new("start", Refuse::NOT_INT),
        Arg::new("end", Refuse::NOT_INT).opt(),
    ],
    check: Some(check),
    returns: "text",
    doc: "the characters of a text from a position (from 0) up to, without, an end position or \
          the end of the text.",
    example: (r#"substring("abcdef", 2, 4)"#, r#""cd""#),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let start = whole(DEF.name, args, 1)?;
    let end = if args.len() > 2 {
        whole(DEF.name, args, 2)?
    } else {
        i64::MAX
    };
    if start < 0 || end < start {
        return Err(Error::new(format!(
            "substring: no text from {start} to {end}"
        )));
    }
    let text = rendered(args, 0);
    let skip = usize::try_from(start).unwrap_or(usize::MAX);
    let take = usize::try_from(end - start).unwrap_or(usize::MAX);
    if text.is_ascii() {
        let from = skip.min(text.len());
        return Ok(Value::str(
            &text[from..from.saturating_add(take).min(text.len())],
        ));
    }
    Ok(Value::Str(text.chars().skip(skip).take(take).collect()))
}

fn check(args: &[ArgKind]) -> std::result::Result<(), String> {
    let literal = |at: usize| match args.get(at) {
        Some(ArgKind::Literal(Value::Int(i))) => Some(*i),
        _ => None,
    };
    let (start, end) = (literal(1), literal(2));
    if start.is_some_and(|s| s < 0) || end.is_some_and(|e| e < 0) {
        return Err("substring counts positions from 0, none may be negative".into());
    }
    match (start, end) {
        (Some(s), Some(e)) if s > e => Err(format!("substring: end {e} is before start {s}")),
        _ => Ok(()),
    }
}

crate::registry::cases! {
    scalar:
    r#"["héllo",1,3]"# => r#""él""#,
    r#"["abc",99]"# => r#""""#,
    r#"["abc",50,60]"# => r#""""#,
    r#"["abc",2,2]"# => r#""""#,
    r#"["abc",-1]"# => "error",
    r#"["abc",2,1]"# => "error",
    r#"["abc",1.5]"# => "error",
    "[12345,1]" => r#""2345""#,
    r#"["abc",null]"# => "null",
}
