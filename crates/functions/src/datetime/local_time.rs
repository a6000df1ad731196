//! `local_time`: date and time of the server, with as many fraction digits as wanted (none).

use rekuiper_value::{Result, Value};

use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "local_time",
    family: "datetime",
    args: &[Arg::new("digits", Refuse::NOT_INT_LITERAL).opt()],
    check: Some(super::clock::check),
    pure: false,
    returns: "text",
    doc: "date and time of the server, with as many fraction digits as wanted (none).",
    example: ("", ""),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    super::clock::show(DEF.name, args, cx, "%Y-%m-%d %H:%M:%S")
}

crate::registry::cases! {
    scalar:
    "[]" => r#""2023-11-14 22:13:20""#,
    "[3]" => r#""2023-11-14 22:13:20.123""#,
    "[0]" => r#""2023-11-14 22:13:20""#,
}
