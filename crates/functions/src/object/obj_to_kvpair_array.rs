use rekuiper_value::{Object, Result, Value};

use crate::arguments::object;
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "obj_to_kvpair_array",
    family: "object",
    args: &[Arg::any("object")],
    returns: "array",
    doc: "An array of `{\"key\": name, \"value\": value}` for each member. The other way round: \
          kvpair_array_to_obj.",
    example: (
        "obj_to_kvpair_array(object_construct(\"a\", 1))",
        "[{\"key\":\"a\",\"value\":1}]",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let members = object(DEF.name, args, 0)?;
    let pairs = members.iter().map(|(key, value)| {
        Value::object(Object::from([
            ("key".into(), Value::Str(key.clone())),
            ("value".into(), value.clone()),
        ]))
    });
    Ok(Value::array(pairs.collect()))
}

cases! {
    scalar: r#"[{"n":null}]"# => r#"[{"key":"n","value":null}]"#, "[{}]" => "null",
    "[5]" => "error",
}
