//! `hour`: the hour of the day, 0 to 23.

use rekuiper_value::{Result, Value};

use crate::operand::{TIME, instant};
use crate::{Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "hour",
    family: "datetime",
    args: TIME,
    nulls: NullRule::Pass,
    returns: "int",
    doc: "the hour of the day, 0 to 23.",
    example: (
        r#"hour(cast("2020-02-29T23:30:15.5-05:00", "datetime"))"#,
        "23",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    let t = instant(DEF.name, args, 0, cx)?;
    Ok(Value::Int(i64::from(t.hour())))
}

crate::registry::cases! {
    scalar:
    r#"["2020-04-01T10:30:45+08:00"]"# => "10",
    "[null]" => "error",
    r#"["nonsense"]"# => "error",
    "[true]" => "error",
}
