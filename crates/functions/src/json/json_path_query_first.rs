use rekuiper_value::{Error, Result, Value};

use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef, NullRule, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "json_path_query_first",
    family: "json",
    args: &[
        Arg::any("document"),
        Arg::new("path", Refuse::NOT_TEXT_LITERAL),
    ],
    nulls: NullRule::Pass,
    returns: "any",
    doc: "The first item of the array that json_path_query gives; null where it is empty. A path \
          that finds no array fails.",
    example: (
        "json_path_query_first(object_construct(\"k\", array_create(7, 8)), \"$.k[*]\")",
        "7",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    match super::query(DEF.name, args)? {
        Value::Array(items) => Ok(items.first().cloned().unwrap_or(Value::Null)),
        other => Err(Error::new(format!(
            "json_path_query_first: the path must find an array, it found {}",
            other.kind_name()
        ))),
    }
}

cases! {
    scalar: r#"[{"k":["x"]},"$.k"]"# => "\"x\"", r#"[{"k":[1]},"$.k[? @>5]"]"# => "null",
    r#"[{"k":1},"$.k"]"# => "error", r#"[null,"$.k"]"# => "error",
}
