//! `endswith`: whether a text ends with another; false for null.

use rekuiper_value::{Result, Value};

use crate::operand::{nothing, rendered};
use crate::{Arg, Cx, FunctionDef, NullRule, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "endswith",
    family: "string",
    args: &[
        Arg::new("text", Refuse::NOT_TEXT),
        Arg::new("end", Refuse::NOT_TEXT),
    ],
    nulls: NullRule::Pass,
    returns: "bool",
    doc: "whether a text ends with another; false for null.",
    example: (r#"endswith("abc", "bc")"#, "true"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let hit = !nothing(args) && rendered(args, 0).ends_with(rendered(args, 1).as_str());
    Ok(Value::Bool(hit))
}

crate::registry::cases! {
    scalar:
    r#"["abc",""]"# => "true",
    r#"["abc","ABC"]"# => "false",
    r#"[null,"x"]"# => "false",
    r#"[[],"x"]"# => "false",
    r#"[121,"1"]"# => "true",
}
