use rekuiper_value::{Error, Object, Result, Value};

use crate::arguments::array;
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "object",
    family: "object",
    args: &[Arg::any("names"), Arg::any("values")],
    returns: "object",
    doc: "An object from an array of names and an equally long array of values. Of equal names \
          the last one stays.",
    example: (
        "object(array_create(\"p\", \"q\"), array_create(1, 2))",
        "{\"p\":1,\"q\":2}",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let (names, values) = (array(DEF.name, args, 0)?, array(DEF.name, args, 1)?);
    if names.len() != values.len() {
        return Err(Error::new(format!(
            "object: as many values as names are needed, got {} names and {} values",
            names.len(),
            values.len()
        )));
    }
    let mut members = Object::new();
    for (name, value) in names.iter().zip(values.iter()) {
        let Value::Str(name) = name else {
            return Err(Error::new(format!(
                "object: names must be text, got {}",
                name.kind_name()
            )));
        };
        members.insert(name.clone(), value.clone());
    }
    Ok(Value::object(members))
}

cases! {
    scalar: r#"[["x","x"],[1,2]]"# => r#"{"x":2}"#, r#"[["n"],[null]]"# => r#"{"n":null}"#,
    r#"[["x"],[1,2]]"# => "error", "[[1],[1]]" => "error", "[[null],[1]]" => "error",
    r#"[["x"],1]"# => "error", "[[],[]]" => "null", "[null,[1]]" => "null",
}
