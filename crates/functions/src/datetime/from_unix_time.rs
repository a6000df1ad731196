//! `from_unix_time`: the time of Unix seconds, as yyyy-MM-dd HH:mm:ss; null for 0.

use jiff::Timestamp;
use rekuiper_value::time;
use rekuiper_value::{Error, Result, Value};

use crate::arguments::whole;
use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "from_unix_time",
    family: "datetime",
    args: &[Arg::new("seconds", NO_NUMBER)],
    returns: "text",
    doc: "the time of Unix seconds, as yyyy-MM-dd HH:mm:ss; null for 0.",
    example: ("from_unix_time(60)", r#""1970-01-01 00:01:00""#),
    ..FunctionDef::scalar(eval)
};

/// Whole-number literals pass, as do time units, which eKuiper does not look at here.
const NO_NUMBER: Refuse =
    Refuse(Refuse::FLOAT.0 | Refuse::STRING.0 | Refuse::BOOLEAN.0 | Refuse::COMPARISON.0);

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    let seconds = whole(DEF.name, args, 0)?;
    if seconds == 0 {
        return Ok(Value::Null);
    }
    let t = Timestamp::from_second(seconds)
        .map_err(|_| Error::new(format!("from_unix_time: {seconds} is out of range")))?;
    Ok(Value::from(time::date_time_text(
        &t.to_zoned_datetime(cx.zone.clone()),
    )))
}

crate::registry::cases! {
    scalar:
    "[1585706400]" => r#""2020-04-01 02:00:00""#,
    "[-1]" => r#""1969-12-31 23:59:59""#,
    "[0]" => "null",
    "[1.5]" => "error",
    "[1e18]" => "error",
    "[null]" => "null",
}
