use rekuiper_value::{Result, Value, json};

use crate::arguments::text;
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "parse_json",
    family: "json",
    args: &[Arg::new("text", Refuse::NOT_TEXT)],
    returns: "any",
    doc: "The value that a JSON text stands for. Null, and the text `null`, give null; text that \
          is no JSON fails.",
    example: ("parse_json(\"[1,2.5]\")", "[1,2.5]"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    json::parse(text(DEF.name, args, 0)?.as_bytes())
}

cases! {
    scalar: r#"[" {\"k\" : [1,null]} "]"# => r#"{"k":[1,null]}"#, "[\"null\"]" => "null",
    "[null]" => "null", "[\"{bad\"]" => "error", "[\"\"]" => "error", "[12]" => "error",
}
