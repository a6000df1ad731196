use rekuiper_value::{Result, Value};

use crate::arguments::object;
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "values",
    family: "object",
    args: &[Arg::any("object")],
    returns: "array",
    doc: "The values of the members.",
    example: ("values(object_construct(\"a\", 1, \"b\", 2))", "[1,2]"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    Ok(Value::array(
        object(DEF.name, args, 0)?.values().cloned().collect(),
    ))
}

cases! { scalar: r#"[{"b":null,"a":[1]}]"# => "[[1],null]", "[{}]" => "null", "[true]" => "error" }
