//! `trunc`: a number cut to places behind the point; a negative number of places counts as 0.

use rekuiper_value::{Result, Value};

use crate::arguments::whole;
use crate::operand::number;
use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "trunc",
    family: "transform",
    args: &[
        Arg::new("number", Refuse::NOT_NUMBER),
        Arg::new("places", Refuse::NOT_INT),
    ],
    returns: "float",
    doc: "a number cut to places behind the point; a negative number of places counts as 0.",
    example: ("trunc(1.28, 1)", "1.2"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let x = number(DEF.name, args, 0)?;
    let places = whole(DEF.name, args, 1)?.clamp(0, 400);
    let scale = 10f64.powi(places as i32);
    let scaled = x * scale;
    if !scaled.is_finite() || scaled.abs() >= 9_007_199_254_740_992.0 {
        // All its digits are before the cut.
        return Ok(Value::Float(x));
    }
    // 1.13 * 100 is 112.99…: where the rounded number is the argument itself, nothing is cut.
    let rounded = scaled.round();
    let cut = if rounded / scale == x {
        rounded
    } else {
        scaled.trunc()
    };
    Ok(Value::Float(cut / scale))
}

crate::registry::cases! {
    scalar:
    "[-1.28,1]" => "-1.2",
    "[1.21,1]" => "1.2",
    "[1.13,2]" => "1.13",
    "[123.7,-1]" => "123",
    "[1e20,2]" => "100000000000000000000",
    r#"[1.25,"1"]"# => "error",
    "[1.25,1.5]" => "error",
    r#"["1.5",1]"# => "error",
    "[1.25,null]" => "null",
}
