//! `day_of_week`: the day of the week, counted from 0 for Sunday.

use rekuiper_value::{Result, Value};

use crate::operand::{TIME, instant};
use crate::{Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "day_of_week",
    family: "datetime",
    args: TIME,
    nulls: NullRule::Pass,
    returns: "int",
    doc: "the day of the week, counted from 0 for Sunday.",
    example: (
        r#"day_of_week(cast("2020-02-29T23:30:15.5-05:00", "datetime"))"#,
        "6",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    let t = instant(DEF.name, args, 0, cx)?;
    Ok(Value::Int(i64::from(t.weekday().to_sunday_zero_offset())))
}

crate::registry::cases! {
    scalar:
    r#"["2020-04-05"]"# => "0",
    "[null]" => "error",
    r#"["nonsense"]"# => "error",
    "[true]" => "error",
}
