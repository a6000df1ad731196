//! `indexof`: the position of a text within another in characters, counted from 0; -1 where it is
//! not or for null.

use rekuiper_value::{Result, Value};

use crate::operand::{nothing, rendered};
use crate::{Arg, Cx, FunctionDef, NullRule, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "indexof",
    family: "string",
    args: &[
        Arg::new("text", Refuse::NOT_TEXT),
        Arg::new("part", Refuse::NOT_TEXT),
    ],
    nulls: NullRule::Pass,
    returns: "int",
    doc: "the position of a text within another in characters, counted from 0; -1 where it is \
          not or for null.",
    example: (r#"indexof("été", "t")"#, "1"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    if nothing(args) {
        return Ok(Value::Int(-1));
    }
    let text = rendered(args, 0);
    let position = text.find(rendered(args, 1).as_str());
    Ok(Value::Int(
        position.map_or(-1, |at| text[..at].chars().count() as i64),
    ))
}

crate::registry::cases! {
    scalar:
    r#"["abcabc","c"]"# => "2",
    r#"["abc",""]"# => "0",
    r#"["世界","界"]"# => "1",
    r#"[null,"x"]"# => "-1",
    r#"["a1",1]"# => "1",
}
