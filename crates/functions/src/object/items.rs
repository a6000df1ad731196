use rekuiper_value::{Result, Value};

use crate::arguments::object;
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "items",
    family: "object",
    args: &[Arg::any("object")],
    returns: "array",
    doc: "An array of `[name, value]` for each member. The other way round: zip.",
    example: ("items(object_construct(\"a\", 1))", "[[\"a\",1]]"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let members = object(DEF.name, args, 0)?;
    let pairs = members
        .iter()
        .map(|(k, v)| Value::array(vec![Value::Str(k.clone()), v.clone()]));
    Ok(Value::array(pairs.collect()))
}

cases! {
    scalar: r#"[{"n":null,"a":1}]"# => r#"[["a",1],["n",null]]"#, "[{}]" => "null",
    "[[1]]" => "error",
}
