use rekuiper_value::{Result, Value};

use crate::arguments::{at, object};
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "object_size",
    family: "object",
    args: &[Arg::any("object")],
    nulls: NullRule::Pass,
    returns: "int",
    doc: "The number of members. A null object has 0.",
    example: ("object_size(object_construct(\"a\", 1, \"b\", 2))", "2"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    if at(args, 0).is_null() {
        return Ok(Value::Int(0));
    }
    Ok(Value::Int(object(DEF.name, args, 0)?.len() as i64))
}

cases! { scalar: r#"[{"n":null}]"# => "1", "[{}]" => "0", "[null]" => "0", "[[1]]" => "error" }
