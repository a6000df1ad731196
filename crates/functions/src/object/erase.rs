use rekuiper_value::{Error, Result, Value, text};

use crate::arguments::{at, object, wrong};
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "erase",
    family: "object",
    args: &[Arg::any("object"), Arg::any("key_or_keys")],
    variadic: true,
    returns: "object",
    doc: "The object without the named member, or without those that an array names. More than \
          two arguments fail for each row.",
    example: (
        "erase(object_construct(\"a\", 1, \"b\", 2), \"a\")",
        "{\"b\":2}",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    if args.len() > 2 {
        return Err(Error::new(
            "erase: takes two arguments; name several keys in an array",
        ));
    }
    let mut members = object(DEF.name, args, 0)?.as_ref().clone();
    match at(args, 1) {
        Value::Str(key) => {
            members.remove(key);
        }
        Value::Array(keys) => keys.iter().for_each(|key| {
            members.remove(&text::render(key));
        }),
        other => return Err(wrong(DEF.name, 1, "text or an array", other)),
    }
    Ok(Value::object(members))
}

cases! {
    scalar: r#"[{"k":1,"m":2},"k"]"# => r#"{"m":2}"#, r#"[{"1":1,"x":2},[1]]"# => r#"{"x":2}"#,
    r#"[{"k":1},"z"]"# => r#"{"k":1}"#, r#"[{"k":1},[]]"# => "null", r#"[{},"k"]"# => "null",
    r#"[{"k":1},5]"# => "error", r#"[[1],"k"]"# => "error", r#"[{"k":1},"k","m"]"# => "error",
}
