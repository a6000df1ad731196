use rekuiper_value::{Object, Result, Value};

use crate::arguments::wrong;
use crate::registry::cases;
use crate::{Arg, ArgKind, Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "object_construct",
    family: "object",
    args: &[Arg::any("name").opt(), Arg::any("value").opt()],
    variadic: true,
    check: Some(check),
    nulls: NullRule::Pass,
    hands_on: true,
    returns: "object",
    doc: "An object from names and values in turn. A null name or a null value leaves its pair \
          out; of equal names the last one stays.",
    example: (
        "object_construct(\"a\", 1, \"b\", true)",
        "{\"a\":1,\"b\":true}",
    ),
    ..FunctionDef::scalar(eval)
};

fn check(args: &[ArgKind]) -> std::result::Result<(), String> {
    if !args.len().is_multiple_of(2) {
        return Err(format!(
            "object_construct takes names and values in turn: an even number, not {}",
            args.len()
        ));
    }
    for (at, arg) in args.iter().enumerate().step_by(2) {
        let text = match arg {
            ArgKind::Literal(value) => value.as_str().is_some(),
            ArgKind::Unit(_) | ArgKind::Comparison => false,
            _ => true,
        };
        if !text {
            return Err(format!(
                "object_construct: argument {} is a name: text is needed",
                at + 1
            ));
        }
    }
    Ok(())
}

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let mut members = Object::new();
    for (at, pair) in args.chunks_exact(2).enumerate() {
        match (&pair[0], &pair[1]) {
            (name, value) if name.is_null() || value.is_null() => {}
            (Value::Str(name), value) => {
                members.insert(name.clone(), value.clone());
            }
            (other, _) => return Err(wrong(DEF.name, at * 2, "text", other)),
        }
    }
    Ok(Value::object(members))
}

cases! {
    scalar: r#"["k",1,"k",2]"# => r#"{"k":2}"#, r#"[null,1,"z",null]"# => "{}", "[]" => "{}",
    "[5,1]" => "error", r#"["id",9007199254740993]"# => r#"{"id":9007199254740993}"#,
}
