//! `cur_time`: time of day of the server, with as many fraction digits as wanted (none).

use rekuiper_value::{Result, Value};

use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "cur_time",
    family: "datetime",
    args: &[Arg::new("digits", Refuse::NOT_INT_LITERAL).opt()],
    check: Some(super::clock::check),
    pure: false,
    returns: "text",
    doc: "time of day of the server, with as many fraction digits as wanted (none).",
    example: ("", ""),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    super::clock::show(DEF.name, args, cx, "%H:%M:%S")
}

crate::registry::cases! {
    scalar:
    "[]" => r#""22:13:20""#,
    "[2]" => r#""22:13:20.12""#,
}
