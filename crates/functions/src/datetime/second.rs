//! `second`: the second of the minute, 0 to 59.

use rekuiper_value::{Result, Value};

use crate::operand::{TIME, instant};
use crate::{Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "second",
    family: "datetime",
    args: TIME,
    nulls: NullRule::Pass,
    returns: "int",
    doc: "the second of the minute, 0 to 59.",
    example: (
        r#"second(cast("2020-02-29T23:30:15.5-05:00", "datetime"))"#,
        "15",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    let t = instant(DEF.name, args, 0, cx)?;
    Ok(Value::Int(i64::from(t.second())))
}

crate::registry::cases! {
    scalar:
    "[-1]" => "59",
    "[null]" => "error",
    r#"["nonsense"]"# => "error",
    "[true]" => "error",
}
