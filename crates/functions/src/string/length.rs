//! `length`: characters of a text, members of an array or object, bytes of bytea.

use rekuiper_value::text;
use rekuiper_value::{Result, Value};

use crate::arguments::at;
use crate::{Arg, Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "length",
    family: "string",
    args: &[Arg::any("value")],
    nulls: NullRule::Pass,
    returns: "int",
    doc: "the number of characters of a text, of members of an array or object, of bytes of \
          bytea; 0 for null, else the length of the value's text.",
    example: (r#"length("four")"#, "4"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let size = match at(args, 0) {
        Value::Missing | Value::Null => 0,
        Value::Str(s) if s.is_ascii() => s.len(),
        Value::Str(s) => s.chars().count(),
        Value::Array(a) => a.len(),
        Value::Object(o) => o.len(),
        Value::Bytes(b) => b.len(),
        other => text::render(other).chars().count(),
    };
    Ok(Value::Int(size as i64))
}

crate::registry::cases! {
    scalar:
    r#"["世界"]"# => "2",
    "[[null]]" => "1",
    "[{}]" => "0",
    "[null]" => "0",
    "[1000000]" => "5",
}
