//! `rpad`: the text with a number of spaces behind it.

use rekuiper_value::{Result, Value};

use crate::operand::rendered;
use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "rpad",
    family: "string",
    args: &[
        Arg::new("text", Refuse::NOT_TEXT),
        Arg::new("count", Refuse::NOT_INT),
    ],
    returns: "text",
    doc: "the text with a number of spaces behind it.",
    example: (r#"rpad("x", 3)"#, r#""x   ""#),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let mut text = rendered(args, 0);
    text.push_str(&super::lpad::spaces(DEF.name, args)?);
    Ok(Value::Str(text))
}

crate::registry::cases! {
    scalar:
    r#"["x",0]"# => r#""x""#,
    r#"["x","2"]"# => "error",
    r#"["x",-1]"# => "error",
    "[null,1]" => "null",
    "[true,1]" => r#""true ""#,
}
