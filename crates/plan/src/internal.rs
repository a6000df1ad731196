//! Function definitions that only plans hold: nobody can type their names.

use std::sync::Arc;

use rekuiper_functions::{
    Analytic, Arg, Cx, FunctionDef, Kind, NullRule, analytic::had_changed_star,
    multi::extract_columns,
};
use rekuiper_value::{Error, Result, Value};

/// `had_changed` over all columns: `(ignore_null, [name, value] or row ...)`.
pub static HAD_CHANGED_STAR: FunctionDef = FunctionDef {
    name: "had_changed",
    args: &[Arg::any("ignore_null"), Arg::any("column")],
    variadic: true,
    ..FunctionDef::of(Kind::Analytic(had_changed_star))
};

/// `extract` as an array of the one object that is spread; null where there is no row.
pub static EXTRACT: FunctionDef = FunctionDef {
    name: "extract",
    args: &[Arg::any("object")],
    nulls: NullRule::Pass,
    ..FunctionDef::scalar(extract)
};

fn extract(args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    let found = extract_columns(args.first().unwrap_or(&Value::Null))?;
    Ok(found.map_or(Value::Null, |o| {
        Value::Array(Arc::new(vec![Value::Object(o)]))
    }))
}

/// `unnest` where it can make no rows.
pub static UNNEST_WITHIN: FunctionDef = FunctionDef {
    name: "unnest",
    args: &[Arg::any("array")],
    nulls: NullRule::Pass,
    pure: false,
    ..FunctionDef::scalar(unnest_within)
};

fn unnest_within(_args: &[Value], _cx: &Cx<'_>) -> Result<Value> {
    Err(Error::new(
        "unnest makes rows only as a whole item of the select list",
    ))
}

/// Its first argument as it is: makes a column of an expression.
pub static SAME: FunctionDef = FunctionDef {
    name: "once",
    args: &[Arg::any("value"), Arg::any("number")],
    hands_on: true,
    ..FunctionDef::of(Kind::Analytic(|| Box::new(Same)))
};

struct Same;

impl Analytic for Same {
    fn push(&mut self, args: &[Value]) -> Result<Value> {
        Ok(args.first().cloned().unwrap_or_default())
    }

    fn skip(&mut self, args: &[Value]) -> Result<Value> {
        self.push(args)
    }

    fn save(&self) -> Value {
        Value::Null
    }

    fn load(&mut self, _state: &Value) {}
}
