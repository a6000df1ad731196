//! `split_value`: one part of a text that a separator splits, counted from 0, or from -1 at the
//! end.

use rekuiper_value::{Error, Result, Value};

use crate::arguments::{at, whole_of};
use crate::operand::rendered;
use crate::{Arg, ArgKind, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "split_value",
    family: "string",
    args: &[
        Arg::new("text", Refuse::NOT_TEXT),
        Arg::new("separator", Refuse::NOT_TEXT),
        Arg::new("index", Refuse::NOT_INT),
    ],
    check: Some(check),
    returns: "text",
    doc: "one part of a text that a separator splits, counted from 0, or from -1 at the end.",
    example: (r#"split_value("a/b/c", "/", 1)"#, r#""b""#),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let (text, separator) = (rendered(args, 0), rendered(args, 1));
    // What is no whole number counts as 0, as in eKuiper.
    let index = whole_of(at(args, 2)).unwrap_or(0);
    let back = index < 0;
    let nth = usize::try_from(if back { -(index + 1) } else { index }).unwrap_or(usize::MAX);
    let found = match (separator.is_empty(), back) {
        (true, false) => text.chars().nth(nth).map(letter),
        (true, true) => text.chars().rev().nth(nth).map(letter),
        (false, false) => text.split(separator.as_str()).nth(nth).map(Value::str),
        (false, true) => text.rsplit(separator.as_str()).nth(nth).map(Value::str),
    };
    found.ok_or_else(|| Error::new(format!("split_value: index {index} is out of range")))
}

fn letter(c: char) -> Value {
    Value::str(c.encode_utf8(&mut [0; 4]) as &str)
}

fn check(args: &[ArgKind]) -> std::result::Result<(), String> {
    match args.get(2) {
        Some(ArgKind::Literal(Value::Int(i))) if *i < 0 => Err(format!(
            "split_value: index {i} is negative; only a column may count from the end"
        )),
        _ => Ok(()),
    }
}

crate::registry::cases! {
    scalar:
    r#"["x/","/",1]"# => r#""""#,
    r#"["a,b,c",",",-1]"# => r#""c""#,
    r#"["a,b,c",",",-4]"# => "error",
    r#"["a,b",",",2]"# => "error",
    r#"["世界","",1]"# => r#""界""#,
    r#"["","",0]"# => "error",
    r#"["a,b",",","1"]"# => r#""a""#,
    r#"["a",null,0]"# => "null",
    r#"[12.5,".",1]"# => r#""5""#,
}
