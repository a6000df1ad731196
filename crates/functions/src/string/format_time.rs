//! `format_time`: a point in time as text after a pattern.

use rekuiper_value::time;
use rekuiper_value::{Result, Value};

use crate::arguments::text;
use crate::operand::instant;
use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "format_time",
    family: "string",
    args: &[
        Arg::new("time", Refuse::NOT_TIME),
        Arg::new("pattern", Refuse::NOT_TEXT),
    ],
    returns: "text",
    doc: "a point in time (milliseconds, text or datetime) as text after a pattern of the \
          letters yyyy MM dd HH mm ss SSS and their like.",
    example: (
        r#"format_time(cast(0, "datetime"), "yyyy-MM-dd HH:mm:ss")"#,
        r#""1970-01-01 00:00:00""#,
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    let t = instant(DEF.name, args, 0, cx)?;
    time::format_time(&t, text(DEF.name, args, 1)?).map(Value::from)
}

crate::registry::cases! {
    scalar:
    r#"[1585706400123,"HH:mm:ssSSS"]"# => r#""02:00:00.123""#,
    r#"["2020-04-01T10:30:45+08:00","HH:mm XXX z"]"# => r#""10:30 +08:00 +0800""#,
    r#"[0,"yyy"]"# => "error",
    r#"[0,"yyyy'"]"# => "error",
    r#"[null,"yyyy"]"# => "null",
    "[0,5]" => "error",
}
