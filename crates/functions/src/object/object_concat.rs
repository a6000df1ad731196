use rekuiper_value::{Object, Result, Value};

use crate::arguments::object;
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "object_concat",
    family: "object",
    args: &[Arg::any("object1"), Arg::any("object2")],
    variadic: true,
    nulls: NullRule::Pass,
    returns: "object",
    doc: "The members of all objects; of equal names the last one stays, inner objects are not \
          merged. Null objects are passed over.",
    example: (
        "object_concat(object_construct(\"a\", 1), object_construct(\"a\", 2, \"b\", 3))",
        "{\"a\":2,\"b\":3}",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let mut all = Object::new();
    for (at, arg) in args.iter().enumerate() {
        if !arg.is_null() {
            let members = object(DEF.name, args, at)?;
            all.extend(members.iter().map(|(k, v)| (k.clone(), v.clone())));
        }
    }
    Ok(Value::object(all))
}

cases! {
    scalar: r#"[{"o":{"p":1}},{"o":{"q":2}}]"# => r#"{"o":{"q":2}}"#, "[null,null]" => "{}",
    r#"[null,{"k":1}]"# => r#"{"k":1}"#, r#"[{"k":1},[1]]"# => "error",
}
