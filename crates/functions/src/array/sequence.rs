use rekuiper_value::{Error, Result, Value};

use super::MADE_MAX;
use crate::arguments::whole;
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "sequence",
    family: "array",
    args: &[Arg::any("start"), Arg::any("stop"), Arg::any("step").opt()],
    returns: "array",
    doc: "The whole numbers from start to stop, both included, by step (1, or -1 where stop is \
          below start); at most a million. A step that leads away from stop gives `[]`, 0 fails.",
    example: ("sequence(1, 9, 3)", "[1,4,7]"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let (start, stop) = (whole(DEF.name, args, 0)?, whole(DEF.name, args, 1)?);
    let step = match args.len() {
        0..=2 if start <= stop => 1,
        0..=2 => -1,
        _ => whole(DEF.name, args, 2)?,
    };
    if step == 0 {
        return Err(Error::new("sequence: the step must not be 0"));
    }
    let way = i128::from(stop) - i128::from(start);
    if way != 0 && (way > 0) != (step > 0) {
        return Ok(Value::array(Vec::new()));
    }
    let steps = (way / i128::from(step)) as u128;
    if steps >= u128::from(MADE_MAX) {
        return Err(Error::new(format!(
            "sequence: would have more than {MADE_MAX} elements"
        )));
    }
    Ok(Value::array(
        (0..=steps as i64)
            .map(|n| Value::Int(start + n * step))
            .collect(),
    ))
}

cases! {
    scalar: "[1,4]" => "[1,2,3,4]", "[4,1]" => "[4,3,2,1]", "[2,2]" => "[2]", "[0,1,5]" => "[0]",
    "[10,1,-4]" => "[10,6,2]", "[1,5,-1]" => "[]", "[1,3,0]" => "error", "[\"1\",3]" => "error",
    "[1.5,3]" => "error", "[null,3]" => "null", "[1,1e12]" => "error",
}
