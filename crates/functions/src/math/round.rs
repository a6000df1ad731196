//! `round`: a number rounded half away from zero, to places behind the point (0) or left of it
//! (negative).

use rekuiper_value::{Result, Value};

use crate::operand::number;
use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "round",
    family: "math",
    args: &[
        Arg::new("number", Refuse::NOT_NUMBER),
        Arg::new("places", Refuse::NOT_NUMBER).opt(),
    ],
    returns: "float",
    doc: "a number rounded half away from zero, to places behind the point (0) or left of it \
          (negative).",
    example: ("round(3.14159, 2)", "3.14"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let x = number(DEF.name, args, 0)?;
    let places = if args.len() > 1 {
        number(DEF.name, args, 1)?.trunc()
    } else {
        0.0
    };
    let scale = 10f64.powi(places.abs().min(400.0) as i32);
    if places <= 0.0 {
        let rounded = if scale.is_finite() {
            (x / scale).round() * scale
        } else {
            0.0
        };
        return Ok(Value::Float(rounded));
    }
    let scaled = x * scale;
    // So many places that there is nothing to round.
    Ok(Value::Float(if scaled.is_finite() {
        scaled.round() / scale
    } else {
        x
    }))
}

crate::registry::cases! {
    scalar:
    "[2.5]" => "3",
    "[-1.5]" => "-2",
    "[1.005,2]" => "1",
    "[-2.675,2]" => "-2.68",
    "[1250,-2]" => "1300",
    "[1e-300,400]" => "1e-300",
    "[1.23456,1.9]" => "1.2",
    "[5,-999999]" => "0",
    r#"[1.25,"1"]"# => "error",
    "[null,1]" => "null",
}
