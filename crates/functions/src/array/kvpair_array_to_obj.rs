use rekuiper_value::{Error, Object, Result, Value};

use crate::arguments::array;
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "kvpair_array_to_obj",
    family: "array",
    args: &[Arg::any("pairs")],
    returns: "object",
    doc: "An object from an array of objects with exactly the members `key` (text) and `value`. \
          Of equal keys the last one stays.",
    example: (
        "kvpair_array_to_obj(obj_to_kvpair_array(object_construct(\"x\", 1)))",
        "{\"x\":1}",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let mut members = Object::new();
    for item in array(DEF.name, args, 0)?.iter() {
        let pair = item.as_object().filter(|o| o.len() == 2);
        match pair.map(|o| (o.get("key"), o.get("value"))) {
            Some((Some(Value::Str(key)), Some(value))) => {
                members.insert(key.clone(), value.clone());
            }
            _ => {
                return Err(Error::new(
                    "kvpair_array_to_obj: each element must be {\"key\": text, \"value\": …}",
                ));
            }
        }
    }
    Ok(Value::object(members))
}

cases! {
    scalar: r#"[[{"key":"x","value":1},{"key":"x","value":2}]]"# => r#"{"x":2}"#,
    r#"[[{"key":"n","value":null}]]"# => r#"{"n":null}"#, r#"[[{"key":"x"}]]"# => "error",
    r#"[[{"key":1,"value":2}]]"# => "error", r#"[[{"key":"x","value":1,"z":2}]]"# => "error",
    "[[]]" => "null", "[\"x\"]" => "error",
}
