//! `log`: the logarithm to base 10, or to the base that is given first; null where there is none
//! (argument at or below 0, base at or below 1).

use rekuiper_value::{Result, Value};

use crate::operand::number;
use crate::{Arg, Cx, FunctionDef, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "log",
    family: "math",
    args: &[
        Arg::new("number or base", Refuse::NOT_NUMBER),
        Arg::any("number").opt(),
    ],
    returns: "float",
    doc: "the logarithm to base 10, or to the base that is given first; null where there is \
          none (argument at or below 0, base at or below 1).",
    example: ("log(1000)", "3"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let first = number(DEF.name, args, 0)?;
    if args.len() == 1 {
        return Ok(if first > 0.0 {
            Value::Float(first.log10())
        } else {
            Value::Null
        });
    }
    let x = number(DEF.name, args, 1)?;
    if x <= 0.0 || first <= 1.0 {
        return Ok(Value::Null);
    }
    Ok(Value::Float(x.ln() / first.ln()))
}

crate::registry::cases! {
    scalar:
    "[0]" => "null",
    "[2,8]" => "3",
    "[1,8]" => "null",
    "[-2,8]" => "null",
    r#"[2,"8"]"# => "error",
    r#"["10"]"# => "error",
    "[2,null]" => "null",
}
