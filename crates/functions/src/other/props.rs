use rekuiper_value::{Error, Result, Value};

use crate::arguments::text;
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef, NullRule, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "props",
    family: "other",
    args: &[Arg::new("name", Refuse::NOT_TEXT)],
    nulls: NullRule::NullToNull,
    pure: false,
    returns: "text",
    doc: "A property that the environment gives to the installation. One that is not given fails.",
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], cx: &Cx<'_>) -> Result<Value> {
    let name = text(DEF.name, args, 0)?;
    let found = cx.host.prop(name).map(Value::from);
    found.ok_or_else(|| Error::new(format!("props: the environment gives no property {name:?}")))
}

cases! {
    scalar: "[\"region\"]" => "\"north\"", "[\"none\"]" => "error", "[null]" => "null",
    "[5]" => "error",
}
