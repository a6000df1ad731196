//! `day_name`: the English name of the weekday.

use rekuiper_value::{Result, Value};

use crate::operand::{TIME, instant};
use crate::{Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "day_name",
    family: "datetime",
    args: TIME,
    nulls: NullRule::Pass,
    returns: "text",
    doc: "the English name of the weekday.",
    example: (
        r#"day_name(cast("2020-02-29T23:30:15.5-05:00", "datetime"))"#,
        r#""Saturday""#,
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    let t = instant(DEF.name, args, 0, cx)?;
    rekuiper_value::time::format_time(&t, "EEEE").map(Value::from)
}

crate::registry::cases! {
    scalar:
    "[-1]" => r#""Wednesday""#,
    "[null]" => "error",
    r#"["nonsense"]"# => "error",
    "[true]" => "error",
}
