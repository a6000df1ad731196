use rekuiper_value::{Object, Result, Str, Value};

use crate::arguments::{at, object};
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "object_pick",
    family: "object",
    args: &[Arg::any("object"), Arg::any("key_or_keys")],
    variadic: true,
    nulls: NullRule::Pass,
    returns: "object",
    doc: "The object with only the named members; a name may be a path `o.p` into inner objects, \
          an array may hold several. Names that are not there are passed over.",
    example: (
        "object_pick(object_construct(\"a\", 1, \"b\", 2), \"b\")",
        "{\"b\":2}",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    if at(args, 0).is_null() {
        return Ok(Value::Null);
    }
    let from = object(DEF.name, args, 0)?;
    let mut picked = Object::new();
    for arg in args.iter().skip(1) {
        match arg {
            Value::Str(path) => pick(from, path, &mut picked),
            Value::Array(paths) => {
                paths
                    .iter()
                    .filter_map(Value::as_str)
                    .for_each(|p| pick(from, p, &mut picked));
            }
            _ => {}
        }
    }
    Ok(Value::object(picked))
}

/// Copies what the path names, with the objects on the way to it. Two paths under one parent meet
/// there.
fn pick(from: &Object, path: &str, into: &mut Object) {
    let steps: Vec<&str> = path.split('.').collect();
    let Some((last, way)) = steps.split_last() else {
        return;
    };
    let mut inner = from;
    for step in way {
        match inner.get(*step) {
            Some(Value::Object(o)) => inner = o,
            _ => return,
        }
    }
    let Some(found) = inner.get(*last) else {
        return;
    };
    let mut target = into;
    for step in way {
        let slot = target.entry(Str::from(*step)).or_insert(Value::Null);
        if slot.as_object().is_none() {
            *slot = Value::object(Object::new());
        }
        let Value::Object(next) = slot else { return };
        target = std::sync::Arc::make_mut(next);
    }
    target.insert(Str::from(*last), found.clone());
}

cases! {
    scalar: r#"[{"k":1,"m":2,"n":3},"k","m"]"# => r#"{"k":1,"m":2}"#,
    r#"[{"k":1},[1,"k"]]"# => r#"{"k":1}"#,
    r#"[{"o":{"p":1,"q":2}},"o.p","o.q"]"# => r#"{"o":{"p":1,"q":2}}"#,
    r#"[{"o":{"p":1}},"o.none"]"# => "{}", r#"[{"k":1},"k.x"]"# => "{}", "[null,\"k\"]" => "null",
    r#"[{"k":1},5]"# => "{}", r#"["x","k"]"# => "error", r#"[{},"k"]"# => "{}",
}
