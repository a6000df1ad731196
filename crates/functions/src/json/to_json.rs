use rekuiper_value::{Result, Value, json};

use crate::arguments::at;
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef, NullRule};

pub const DEF: FunctionDef = FunctionDef {
    name: "to_json",
    family: "json",
    args: &[Arg::any("value")],
    nulls: NullRule::NullToNull,
    hands_on: true,
    returns: "text",
    doc: "The value as JSON text, member names sorted.",
    example: ("to_json(array_create(1, \"x\"))", "\"[1,\\\"x\\\"]\""),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    json::to_string(at(args, 0)).map(Value::from)
}

cases! {
    scalar: r#"[{"b":1,"a":"<"}]"# => r#""{\"a\":\"\\u003c\",\"b\":1}""#, "[[]]" => "\"[]\"",
    "[null]" => "null", "[9007199254740993]" => "\"9007199254740993\"", "[1.5]" => "\"1.5\"",
}
