use rekuiper_value::{Error, Result, Value};

use crate::arguments::{at, text, whole, wrong};
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "element_at",
    family: "array",
    args: &[Arg::any("array_or_object"), Arg::any("index_or_key")],
    returns: "any",
    doc: "An element of an array by its place (from 0; negative from the end), or a member of an \
          object by its name. A place outside the array fails, a missing name gives null.",
    example: ("element_at(array_create(1, 2, 3), -1)", "3"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    match at(args, 0) {
        Value::Array(items) => {
            let index = whole(DEF.name, args, 1)?;
            let from_start = if index < 0 {
                index.saturating_add(items.len() as i64)
            } else {
                index
            };
            usize::try_from(from_start)
                .ok()
                .and_then(|i| items.get(i))
                .cloned()
                .ok_or_else(|| {
                    Error::new(format!(
                        "element_at: index {index} is outside an array of {}",
                        items.len()
                    ))
                })
        }
        Value::Object(members) => {
            let key = text(DEF.name, args, 1)?;
            Ok(members.get(key).cloned().unwrap_or(Value::Null))
        }
        other => Err(wrong(DEF.name, 0, "an array or an object", other)),
    }
}

cases! {
    scalar: "[[1,2],1]" => "2", "[[1,2],-2]" => "1", "[[1,2],-3]" => "error",
    "[[1,2],2]" => "error",
    "[[1,2],0.5]" => "error", "[[1,2],\"0\"]" => "error", "[{\"k\":1},\"k\"]" => "1",
    "[{\"k\":1},\"z\"]" => "null", "[{\"k\":1},0]" => "error", "[[],0]" => "null",
    "[\"text\",0]" => "error",
}
