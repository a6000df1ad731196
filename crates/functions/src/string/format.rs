//! `format`: a number with a fixed number of places, grouped as a language does it.

use rekuiper_value::{Error, Result, Value};

use super::locale::locale;
use crate::arguments::{at, text, whole};
use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "format",
    family: "string",
    args: &[
        Arg::any("number"),
        Arg::new("places", Refuse::NOT_INT_LITERAL),
        Arg::new("locale", Refuse::NOT_TEXT).opt(),
    ],
    // eKuiper takes further arguments and never looks at them.
    variadic: true,
    returns: "text",
    doc: "a number with a fixed number of places, rounded half to even; with a locale (en_US, \
          de_DE, en_IN, …) grouped and with the decimal sign of that language.",
    example: (r#"format(1234567.891, 2, "en_US")"#, r#""1,234,567.89""#),
    ..FunctionDef::scalar(eval)
};

/// More places than any double has digits.
const MOST_PLACES: i64 = 1100;

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let places = whole(DEF.name, args, 1)?;
    if !(0..=MOST_PLACES).contains(&places) {
        return Err(Error::new(format!(
            "format: {places} places cannot be shown"
        )));
    }
    // What is no number counts as 0, as in eKuiper.
    let number = at(args, 0).as_f64().unwrap_or(0.0);
    if !number.is_finite() {
        return Err(Error::new(format!("format: {number} has no digits")));
    }
    let plain = format!("{number:.*}", places as usize);
    if args.len() < 3 {
        return Ok(Value::from(plain));
    }
    let name = text(DEF.name, args, 2)?;
    match locale(name) {
        Some(found) => Ok(Value::from(found.apply(&plain))),
        None => Err(Error::new(format!(
            "format: unknown locale {name}: a name like en_US or de_DE is wanted"
        ))),
    }
}

crate::registry::cases! {
    scalar:
    "[40817.9182736,2]" => r#""40817.92""#,
    "[2.5,0]" => r#""2""#,
    "[-1.005,2]" => r#""-1.00""#,
    r#"["12",1]"# => r#""0.0""#,
    r#"[-9999.995,2,"en_US"]"# => r#""-10,000.00""#,
    r#"[1,2,"zz_zz_zz"]"# => "error",
    "[1,-1]" => "error",
    "[1,1e9]" => "error",
    "[null,2]" => "null",
}
