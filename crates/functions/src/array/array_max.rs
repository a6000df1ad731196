use std::cmp::Ordering;

use rekuiper_value::{Result, Value};

use crate::arguments::array;
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "array_max",
    family: "array",
    args: &[Arg::any("array")],
    returns: "any",
    doc: "The greatest element, nulls left aside: of numbers by value, of text bytewise. Both in \
          one array, or any other kind, fail.",
    example: ("array_max(array_create(1, 2.9, 2))", "2.9"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    super::extreme(DEF.name, array(DEF.name, args, 0)?, Ordering::Greater)
}

cases! {
    scalar: "[[null,4,null]]" => "4", "[[\"b\",\"a\"]]" => "\"b\"", "[[1,\"x\"]]" => "error",
    "[[true]]" => "error", "[[null]]" => "null", "[[]]" => "null", "[5]" => "error",
    "[[9007199254740993,1]]" => "9007199254740993",
}
