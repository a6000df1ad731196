use rekuiper_value::{Result, Value, text};

use crate::arguments::{array, compare_numbers};
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "array_sort",
    family: "array",
    args: &[Arg::any("array")],
    returns: "array",
    doc: "The elements in rising order: numbers by value with nulls last; where other kinds are \
          among them, all by their text, bytewise.",
    example: ("array_sort(array_create(10, 9, 2))", "[2,9,10]"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let items = array(DEF.name, args, 0)?;
    let mut sorted = items.to_vec();
    if items.iter().all(|v| v.is_number() || v.is_null()) {
        sorted.sort_by(|a, b| {
            a.is_null()
                .cmp(&b.is_null())
                .then_with(|| compare_numbers(a, b))
        });
    } else {
        sorted.sort_by_cached_key(text::render);
    }
    Ok(Value::array(sorted))
}

cases! {
    scalar: "[[1000000,5,null]]" => "[5,1000000,null]",
    "[[\"b\",\"a\",\"C\"]]" => "[\"C\",\"a\",\"b\"]",
    "[[3,\"b\",2,\"a\"]]" => "[2,3,\"a\",\"b\"]", "[[\"10\",\"9\"]]" => "[\"10\",\"9\"]",
    "[[true,false]]" => "[false,true]", "[null]" => "null", "[5]" => "error",
}
