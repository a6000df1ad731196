//! `minute`: the minute of the hour, 0 to 59.

use rekuiper_value::{Result, Value};

use crate::operand::{TIME, instant};
use crate::{Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "minute",
    family: "datetime",
    args: TIME,
    nulls: NullRule::Pass,
    returns: "int",
    doc: "the minute of the hour, 0 to 59.",
    example: (
        r#"minute(cast("2020-02-29T23:30:15.5-05:00", "datetime"))"#,
        "30",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    let t = instant(DEF.name, args, 0, cx)?;
    Ok(Value::Int(i64::from(t.minute())))
}

crate::registry::cases! {
    scalar:
    "[-1]" => "59",
    "[null]" => "error",
    r#"["nonsense"]"# => "error",
    "[true]" => "error",
}
