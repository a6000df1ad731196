use rekuiper_value::{Error, Result, Value};

use crate::arguments::{array, text};
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef, Kind};

pub const DEF: FunctionDef = FunctionDef {
    name: "array_map",
    family: "array",
    args: &[Arg::any("function"), Arg::any("array")],
    pure: false,
    returns: "array",
    doc: "Calls the named function, in lower case, with each element. It must be one that takes \
          one argument and keeps no state. Nulls are passed to it: most functions then fail.",
    example: (
        "array_map(\"cardinality\", array_create(array_create(1, 2), 5))",
        "[2,0]",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    let name = text(DEF.name, args, 0)?;
    let def = crate::lookup(name)
        .filter(|_| !name.bytes().any(|b| b.is_ascii_uppercase()))
        .ok_or_else(|| Error::new(format!("array_map: unknown function {name:?}")))?;
    let (least, most) = def.arity();
    let one = least <= 1 && most.is_none_or(|m| m >= 1);
    let Kind::Scalar(call) = def.kind else {
        return Err(unfit(name));
    };
    if !one {
        return Err(unfit(name));
    }
    let items = array(DEF.name, args, 1)?;
    let mapped: Result<Vec<Value>> = items
        .iter()
        .map(|v| call(&[v.clone().normalized()], cx))
        .collect();
    mapped.map(Value::array)
}

fn unfit(name: &str) -> Error {
    Error::new(format!(
        "array_map: {name} is no function of one argument without state"
    ))
}

cases! {
    scalar: "[\"cardinality\",[[1,2],5]]" => "[2,0]", "[\"CARDINALITY\",[[1]]]" => "error",
    "[\"nope\",[1]]" => "error", "[\"sum\",[1]]" => "error", "[\"element_at\",[1]]" => "error",
    "[\"rule_id\",[1]]" => "error", "[\"isnull\",[]]" => "null", "[5,[1]]" => "error",
}
