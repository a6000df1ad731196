//! `date_diff`: nanoseconds from the first point in time to the second.

use rekuiper_value::{Result, Value};

use crate::operand::instant;
use crate::{Arg, Cx, FunctionDef, NullRule, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "date_diff",
    family: "datetime",
    args: &[
        Arg::new("from", Refuse::NOT_TIME),
        Arg::new("to", Refuse::NOT_TIME),
    ],
    nulls: NullRule::Pass,
    returns: "int",
    doc: "nanoseconds from the first point in time to the second.",
    example: (
        r#"date_diff(cast("2020-04-01", "datetime"), cast("2020-04-03", "datetime"))"#,
        "172800000000000",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    let from = instant(DEF.name, args, 0, cx)?.timestamp().as_nanosecond();
    let to = instant(DEF.name, args, 1, cx)?.timestamp().as_nanosecond();
    // As in Go, what 64 bits cannot hold stays at their end.
    let nanos = (to - from).clamp(i128::from(i64::MIN), i128::from(i64::MAX));
    Ok(Value::Int(nanos as i64))
}

crate::registry::cases! {
    scalar:
    "[5,5]" => "0",
    r#"["2020-04-03","2020-04-01"]"# => "-172800000000000",
    "[null,1]" => "error",
    r#"["0001","9999"]"# => "9223372036854775807",
}
