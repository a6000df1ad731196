use rekuiper_value::{Error, Object, Result, Value};

use crate::arguments::array;
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "zip",
    family: "object",
    args: &[Arg::any("pairs")],
    returns: "object",
    doc: "An object from an array of `[name, value]`. Null entries are passed over; of equal names \
          the last one stays. The other way round: items.",
    example: ("zip(array_create(array_create(\"a\", 1)))", "{\"a\":1}"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let mut members = Object::new();
    for entry in array(DEF.name, args, 0)?.iter().filter(|v| !v.is_null()) {
        match entry.as_array().map(|pair| pair.as_slice()) {
            Some([Value::Str(name), value]) => {
                members.insert(name.clone(), value.clone());
            }
            _ => return Err(Error::new("zip: each element must be [name, value]")),
        }
    }
    Ok(Value::object(members))
}

cases! {
    scalar: r#"[[null,["k",1],["n",null]]]"# => r#"{"k":1,"n":null}"#, "[[null]]" => "{}",
    r#"[[["x"]]]"# => "error", "[[[1,2]]]" => "error", "[[\"xy\"]]" => "error", "[{}]" => "null",
    "[[]]" => "null", "[5]" => "error",
}
