//! `date_calc`: a point in time moved by a duration.

use jiff::SignedDuration;
use rekuiper_value::time;
use rekuiper_value::{Error, Result, Value};

use crate::arguments::text;
use crate::operand::instant;
use crate::{Arg, ArgKind, Cx, FunctionDef, NullRule, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "date_calc",
    family: "datetime",
    args: &[
        Arg::new("time", NO_TIME),
        Arg::new("duration", Refuse::NOT_TEXT_LITERAL),
    ],
    check: Some(check),
    nulls: NullRule::Pass,
    returns: "text",
    doc: "a point in time moved by a duration such as 1h30m or -90s (units ns us ms s m h), as \
          yyyy-MM-dd HH:mm:ss.",
    example: (
        r#"date_calc("2021-05-06", "90m")"#,
        r#""2021-05-06 01:30:00""#,
    ),
    ..FunctionDef::scalar(eval)
};

/// Unlike its siblings it takes a text literal, if that is a time: see `check`.
const NO_TIME: Refuse =
    Refuse(Refuse::INT.0 | Refuse::FLOAT.0 | Refuse::BOOLEAN.0 | Refuse::COMPARISON.0);

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    let t = instant(DEF.name, args, 0, cx)?;
    let by = SignedDuration::from_nanos(time::parse_duration(text(DEF.name, args, 1)?)?);
    let moved = t
        .checked_add(by)
        .map_err(|e| Error::new(format!("date_calc: {e}")))?;
    Ok(Value::from(time::date_time_text(&moved)))
}

fn check(args: &[ArgKind]) -> std::result::Result<(), String> {
    match args.first() {
        Some(ArgKind::Literal(Value::Str(word))) => time::read_time(word, &jiff::tz::TimeZone::UTC)
            .map(|_| ())
            .map_err(|e| format!("date_calc: {e}")),
        _ => Ok(()),
    }
}

crate::registry::cases! {
    scalar:
    r#"["2020-02-29","-36h"]"# => r#""2020-02-27 12:00:00""#,
    r#"["2020-04-01T10:30:45+08:00","0"]"# => r#""2020-04-01 10:30:45""#,
    r#"[0,"1d"]"# => "error",
    r#"[0,""]"# => "error",
    r#"[null,"1h"]"# => "error",
    r#"["9999-12-31","2000000h"]"# => "error",
}
