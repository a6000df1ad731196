//! `abs`: the absolute value; integers stay integers.

use rekuiper_value::{Error, Result, Value};

use crate::operand::{NUMBER, number};
use crate::{Cx, FunctionDef};

pub const DEF: FunctionDef = FunctionDef {
    name: "abs",
    family: "math",
    args: NUMBER,
    returns: "number",
    doc: "the absolute value; integers stay integers.",
    example: ("abs(-3)", "3"),
    ..FunctionDef::scalar(eval)
};

fn eval(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    if let Some(Value::Int(i)) = args.first() {
        let none = || Error::new(format!("abs: {i} has none in 64 bits"));
        return i.checked_abs().map(Value::Int).ok_or_else(none);
    }
    Ok(Value::Float(number(DEF.name, args, 0)?.abs()))
}

#[cfg(test)]
mod exact {
    use super::*;

    #[test]
    fn integers_beyond_doubles() {
        let answer = |i| DEF.call(&[Value::Int(i)], &crate::testing::cx());
        assert_eq!(answer(-9007199254740993), Ok(Value::Int(9007199254740993)));
        assert_eq!(answer(i64::MAX), Ok(Value::Int(i64::MAX)));
        assert!(answer(i64::MIN).is_err());
    }
}

crate::registry::cases! {
    scalar:
    "[-0.5]" => "0.5",
    r#"["x"]"# => "error",
    "[{}]" => "null",
    "[[1]]" => "error",
}
