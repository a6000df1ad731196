//! `day_of_month`: the day of the month, 1 to 31.

use rekuiper_value::{Result, Value};

use crate::operand::{TIME, instant};
use crate::{Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "day_of_month",
    aliases: &["day"],
    family: "datetime",
    args: TIME,
    nulls: NullRule::Pass,
    returns: "int",
    doc: "the day of the month, 1 to 31.",
    example: (
        r#"day_of_month(cast("2020-02-29T23:30:15.5-05:00", "datetime"))"#,
        "29",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    let t = instant(DEF.name, args, 0, cx)?;
    Ok(Value::Int(i64::from(t.day())))
}

crate::registry::cases! {
    scalar:
    "[-1]" => "31",
    "[null]" => "error",
    r#"["nonsense"]"# => "error",
    "[true]" => "error",
}
