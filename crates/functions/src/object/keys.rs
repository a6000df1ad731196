use rekuiper_value::{Result, Value};

use crate::arguments::object;
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "keys",
    family: "object",
    args: &[Arg::any("object")],
    returns: "array",
    doc: "The names of the members.",
    example: (
        "keys(object_construct(\"a\", 1, \"b\", 2))",
        "[\"a\",\"b\"]",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let members = object(DEF.name, args, 0)?;
    Ok(Value::array(
        members.keys().map(|k| Value::Str(k.clone())).collect(),
    ))
}

cases! {
    scalar: r#"[{"b":1,"":0}]"# => r#"["","b"]"#, "[{}]" => "null", "[[]]" => "null",
    "[\"x\"]" => "error", "[[1]]" => "error",
}
