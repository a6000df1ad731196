use rekuiper_value::{Error, Result, Value};

use crate::arguments::{at, text};
use crate::registry::cases;
use crate::{Arg, ArgKind, Cx, FunctionDef, NullRule, Refuse};

/// Types that a stored value may be read as.
const TYPES: [&str; 5] = ["bigint", "float", "string", "boolean", "datetime"];

pub const DEF: FunctionDef = FunctionDef {
    name: "get_keyed_state",
    family: "other",
    args: &[
        Arg::any("key"),
        Arg::new("type", Refuse(1 | 2 | 8 | 16 | 32)),
        Arg::any("default"),
    ],
    check: Some(check),
    nulls: NullRule::Pass,
    hands_on: true,
    pure: false,
    returns: "any",
    doc: "The value that the installation keeps under the key, as bigint, float, string, boolean \
          or datetime; the third argument where there is none.",
    example: ("get_keyed_state(\"no such key\", \"bigint\", 5)", "5"),
    ..FunctionDef::scalar(eval)
};

fn check(args: &[ArgKind]) -> std::result::Result<(), String> {
    match args.get(1) {
        Some(ArgKind::Literal(value)) if !value.as_str().is_some_and(|t| TYPES.contains(&t)) => {
            Err(format!(
                "get_keyed_state: the type must be one of {}",
                TYPES.join(", ")
            ))
        }
        _ => Ok(()),
    }
}

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    let key = text(DEF.name, args, 0)?;
    let Some(kept) = cx.host.keyed_state(key).filter(|v| !v.is_null()) else {
        return Ok(at(args, 2).clone());
    };
    let kind = text(DEF.name, args, 1)?;
    if !TYPES.contains(&kind.as_str()) {
        return Err(Error::new(format!(
            "get_keyed_state: unknown type {kind:?}"
        )));
    }
    let cast = crate::lookup("cast").ok_or_else(|| Error::new("get_keyed_state: no cast"))?;
    cast.call(&[kept, Value::Str(kind.clone())], cx)
}

cases! {
    scalar: "[\"none\",\"bigint\",5]" => "5", "[5,\"string\",\"d\"]" => "error",
    "[null,\"string\",\"d\"]" => "error", "[\"limit\",\"int\",1]" => "error",
    "[\"limit\",\"bigint\",1]" => "12", "[\"limit\",\"string\",1]" => "\"12\"",
}
