//! `microsecond`: the microseconds of the second, 0 to 999999.

use rekuiper_value::{Result, Value};

use crate::operand::{TIME, instant};
use crate::{Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "microsecond",
    family: "datetime",
    args: TIME,
    nulls: NullRule::Pass,
    returns: "int",
    doc: "the microseconds of the second, 0 to 999999.",
    example: (
        r#"microsecond(cast("2020-02-29T23:30:15.5-05:00", "datetime"))"#,
        "500000",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    let t = instant(DEF.name, args, 0, cx)?;
    Ok(Value::Int(i64::from(t.subsec_nanosecond() / 1_000)))
}

crate::registry::cases! {
    scalar:
    "[-1]" => "999000",
    "[null]" => "error",
    r#"["nonsense"]"# => "error",
    "[true]" => "error",
}
