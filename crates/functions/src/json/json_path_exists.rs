use rekuiper_value::{Result, Value};

use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef, NullRule, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "json_path_exists",
    family: "json",
    args: &[
        Arg::any("document"),
        Arg::new("path", Refuse::NOT_TEXT_LITERAL),
    ],
    nulls: NullRule::Pass,
    returns: "bool",
    doc: "Whether the path finds anything that is not null. A path that fails finds nothing.",
    example: (
        "json_path_exists(object_construct(\"k\", 1), \"$.k\")",
        "true",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let found = match super::query(DEF.name, args) {
        Ok(Value::Array(items)) => !items.is_empty(),
        Ok(value) => !value.is_null(),
        Err(_) => false,
    };
    Ok(Value::Bool(found))
}

cases! {
    scalar: r#"[{"k":null},"$.k"]"# => "false", r#"[{"k":[1]},"$.k"]"# => "true",
    r#"[null,"$"]"# => "false", r#"[{},"$.["]"# => "false", r#"[[1],"$[? @>1]"]"# => "false",
}
