//! `cur_date`: the day of the server's date.

use rekuiper_value::{Result, Value};

use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "cur_date",
    family: "datetime",
    pure: false,
    returns: "text",
    doc: "the day of the server's date.",
    example: ("", ""),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    super::clock::show(DEF.name, args, cx, "%Y-%m-%d")
}

crate::registry::cases! {
    scalar:
    "[]" => r#""2023-11-14""#,
}
