//! `concat`: all arguments joined to one text; null counts as empty text.

use rekuiper_value::text;
use rekuiper_value::{Result, Value};

use crate::operand::TEXT;
use crate::{Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "concat",
    family: "string",
    args: TEXT,
    variadic: true,
    nulls: NullRule::Pass,
    returns: "text",
    doc: "all arguments joined to one text; null counts as empty text.",
    example: (r#"concat("a", "b", "c")"#, r#""abc""#),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let mut out = Vec::new();
    for value in args {
        match value {
            Value::Missing | Value::Null => {}
            Value::Bytes(bytes) => out.extend_from_slice(bytes),
            other => text::render_into(&mut out, other),
        }
    }
    Ok(Value::str(String::from_utf8_lossy(&out).as_ref()))
}

crate::registry::cases! {
    scalar:
    r#"["a",null,1000000]"# => r#""a1e+06""#,
    "[null]" => r#""""#,
    r#"[[],"|"]"# => r#""[]|""#,
    r#"[["a",1]]"# => r#""[a 1]""#,
}
