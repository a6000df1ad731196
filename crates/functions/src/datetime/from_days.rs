//! `from_days`: the date of a day number, 1 being 1970-01-01; null for 0.

use jiff::{SignedDuration, civil::date};
use rekuiper_value::{Error, Result, Value};

use crate::arguments::whole;
use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "from_days",
    family: "datetime",
    args: &[Arg::new("days", NO_NUMBER)],
    returns: "text",
    doc: "the date of a day number, 1 being 1970-01-01; null for 0.",
    example: ("from_days(2)", r#""1970-01-02""#),
    ..FunctionDef::scalar(eval)
};

/// Whole-number literals pass, as do time units, which eKuiper does not look at here.
const NO_NUMBER: Refuse =
    Refuse(Refuse::FLOAT.0 | Refuse::STRING.0 | Refuse::BOOLEAN.0 | Refuse::COMPARISON.0);

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let days = whole(DEF.name, args, 0)?;
    if days == 0 {
        return Ok(Value::Null);
    }
    let found = days
        .checked_sub(1)
        .and_then(|d| d.checked_mul(24))
        .and_then(SignedDuration::try_from_hours)
        .and_then(|d| date(1970, 1, 1).checked_add(d).ok());
    let found =
        found.ok_or_else(|| Error::new(format!("from_days: day {days} is out of range")))?;
    Ok(Value::from(found.strftime("%Y-%m-%d").to_string()))
}

crate::registry::cases! {
    scalar:
    "[366]" => r#""1971-01-01""#,
    "[-1]" => r#""1969-12-30""#,
    "[0]" => "null",
    "[1.5]" => "error",
    r#"["1"]"# => "error",
    "[1e15]" => "error",
    "[null]" => "null",
}
