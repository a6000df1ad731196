use rekuiper_value::{Result, Value};

use crate::arguments::array;
use crate::registry::cases;
use crate::seen::Seen;
use crate::{Arg, Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "array_union",
    family: "array",
    args: &[Arg::any("array1"), Arg::any("array2")],
    nulls: NullRule::Pass,
    returns: "array",
    doc: "The elements of both arrays without repetitions, in the order of first sight. A null \
          array counts as empty.",
    example: (
        "array_union(array_create(1, 2), array_create(2, 3))",
        "[1,2,3]",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let (mut seen, mut all) = (Seen::default(), Vec::new());
    for (at, arg) in args.iter().enumerate() {
        if !arg.is_null() {
            let items = array(DEF.name, args, at)?;
            all.extend(items.iter().filter(|v| seen.insert(v)).cloned());
        }
    }
    Ok(Value::array(all))
}

cases! {
    scalar: "[[{\"k\":1}],[{\"k\":2},{\"k\":1}]]" => "[{\"k\":1},{\"k\":2}]",
    "[null,null]" => "[]", "[[1,1],null]" => "[1]", "[[1],5]" => "error",
}
