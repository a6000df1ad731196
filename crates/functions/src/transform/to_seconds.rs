//! `to_seconds`: Unix seconds of a point in time.

use rekuiper_value::{Result, Value};

use crate::operand::instant;
use crate::{Arg, Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "to_seconds",
    family: "transform",
    args: &[Arg::any("time")],
    returns: "int",
    doc: "Unix seconds of a point in time.",
    example: (r#"to_seconds("2020-01-01")"#, "1577836800"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    let t = instant(DEF.name, args, 0, cx)?.timestamp();
    let seconds = t.as_nanosecond().div_euclid(1_000_000_000);
    Ok(Value::Int(i64::try_from(seconds).unwrap_or(i64::MAX)))
}

crate::registry::cases! {
    scalar:
    "[-1]" => "-1",
    "[1500]" => "1",
    r#"["x"]"# => "error",
    "[null]" => "null",
}
