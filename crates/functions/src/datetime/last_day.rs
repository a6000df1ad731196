//! `last_day`: the last day of the month that a point in time is in.

use rekuiper_value::{Result, Value};

use crate::operand::{TIME, instant};
use crate::{Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "last_day",
    family: "datetime",
    args: TIME,
    nulls: NullRule::Pass,
    returns: "text",
    doc: "the last day of the month that a point in time is in.",
    example: (
        r#"last_day(cast("2020-02-29T23:30:15.5-05:00", "datetime"))"#,
        r#""2020-02-29""#,
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    let t = instant(DEF.name, args, 0, cx)?;
    let last = t.date().last_of_month();
    Ok(Value::from(last.strftime("%Y-%m-%d").to_string()))
}

crate::registry::cases! {
    scalar:
    r#"["2020-02-29"]"# => r#""2020-02-29""#,
    "[0]" => r#""1970-01-31""#,
    "[null]" => "error",
    r#"["nonsense"]"# => "error",
    "[true]" => "error",
}
