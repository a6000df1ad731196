//! `month`: the month, 1 to 12.

use rekuiper_value::{Result, Value};

use crate::operand::{TIME, instant};
use crate::{Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "month",
    family: "datetime",
    args: TIME,
    nulls: NullRule::Pass,
    returns: "int",
    doc: "the month, 1 to 12.",
    example: (
        r#"month(cast("2020-02-29T23:30:15.5-05:00", "datetime"))"#,
        "2",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    let t = instant(DEF.name, args, 0, cx)?;
    Ok(Value::Int(i64::from(t.month())))
}

crate::registry::cases! {
    scalar:
    "[-1]" => "12",
    "[null]" => "error",
    r#"["nonsense"]"# => "error",
    "[true]" => "error",
}
