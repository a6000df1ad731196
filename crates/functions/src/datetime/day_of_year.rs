//! `day_of_year`: the day of the year, 1 to 366.

use rekuiper_value::{Result, Value};

use crate::operand::{TIME, instant};
use crate::{Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "day_of_year",
    family: "datetime",
    args: TIME,
    nulls: NullRule::Pass,
    returns: "int",
    doc: "the day of the year, 1 to 366.",
    example: (
        r#"day_of_year(cast("2020-02-29T23:30:15.5-05:00", "datetime"))"#,
        "60",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    let t = instant(DEF.name, args, 0, cx)?;
    Ok(Value::Int(i64::from(t.day_of_year())))
}

crate::registry::cases! {
    scalar:
    r#"["2020-12-31T23:30:15-05:00"]"# => "366",
    "[null]" => "error",
    r#"["nonsense"]"# => "error",
    "[true]" => "error",
}
