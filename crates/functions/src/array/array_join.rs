use rekuiper_value::{Result, Value, number, text};

use crate::arguments::{array, text as text_arg};
use crate::registry::cases;
use crate::{Arg, Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "array_join",
    family: "array",
    args: &[
        Arg::any("array"),
        Arg::any("separator"),
        Arg::any("null_text").opt(),
    ],
    returns: "text",
    doc: "The elements as text with the separator between them. Nulls are left out, or written as \
          the third argument. Numbers are written without exponent.",
    example: (
        "array_join(array_create(\"x\", 1000000, true), \"-\")",
        "\"x-1000000-true\"",
    ),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let items = array(DEF.name, args, 0)?;
    let separator = text_arg(DEF.name, args, 1)?;
    let for_null = match args.len() {
        0..=2 => "",
        _ => text_arg(DEF.name, args, 2)?.as_str(),
    };
    let mut out = Vec::new();
    let mut first = true;
    for item in items.iter() {
        if item.is_null() && for_null.is_empty() {
            continue;
        }
        if !first {
            out.extend_from_slice(separator.as_bytes());
        }
        first = false;
        match item {
            Value::Missing | Value::Null => out.extend_from_slice(for_null.as_bytes()),
            Value::Float(f) => number::write_plain_f64(&mut out, *f),
            Value::Wide(i) => number::write_i64(&mut out, *i),
            other => text::render_into(&mut out, other),
        }
    }
    Ok(Value::from(String::from_utf8_lossy(&out).into_owned()))
}

cases! {
    scalar: "[[\"x\",null,\"y\"],\",\"]" => "\"x,y\"",
    "[[\"x\",null],\",\",\"nil\"]" => "\"x,nil\"",
    "[[1,2.5,1e21],\"|\"]" => "\"1|2.5|1000000000000000000000\"",
    "[[],\",\"]" => "null", "[[1],2]" => "error", "[\"x\",\",\"]" => "error",
}
