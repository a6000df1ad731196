use std::cmp::Ordering;

use rekuiper_value::{Result, Value};

use crate::arguments::array;
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "array_min",
    family: "array",
    args: &[Arg::any("array")],
    returns: "any",
    doc: "The least element, nulls left aside: of numbers by value, of text bytewise. Both in one \
          array, or any other kind, fail.",
    example: ("array_min(array_create(3, 0.5))", "0.5"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    super::extreme(DEF.name, array(DEF.name, args, 0)?, Ordering::Less)
}

cases! {
    scalar: "[[1,null,-9]]" => "-9", "[[\"b\",\"a\"]]" => "\"a\"", "[[\"x\",1]]" => "error",
    "[[[1]]]" => "error", "[{\"k\":1}]" => "error",
}
