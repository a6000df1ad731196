//! `chr`: the character of a Unicode number; a text of one character is given back.

use rekuiper_value::{Error, Result, Value};

use crate::arguments::{at, whole};
use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "chr",
    family: "transform",
    args: &[Arg::new(
        "number",
        Refuse(Refuse::FLOAT.0 | Refuse::BOOLEAN.0 | Refuse::UNIT.0 | Refuse::COMPARISON.0),
    )],
    returns: "text",
    doc: "the character of a Unicode number; a text of one character is given back.",
    example: ("chr(65)", r#""A""#),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    if let Value::Str(s) = at(args, 0) {
        return match s.chars().count() {
            0 => Ok(Value::Null),
            1 => Ok(Value::Str(s.clone())),
            _ => Err(Error::new(
                "chr: a text of more than one character has no single character",
            )),
        };
    }
    let number = whole(DEF.name, args, 0)?;
    let c = u32::try_from(number).ok().and_then(char::from_u32);
    c.map(|c| Value::from(c.to_string()))
        .ok_or_else(|| Error::new(format!("chr: {number} is no character's number")))
}

crate::registry::cases! {
    scalar:
    "[8364]" => r#""€""#,
    r#"["z"]"# => r#""z""#,
    r#"[""]"# => "null",
    r#"["ab"]"# => "error",
    "[true]" => "error",
    "[-1]" => "error",
    "[55296]" => "error",
    "[null]" => "null",
}
