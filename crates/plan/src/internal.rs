//! Function definitions that only plans hold: nobody can type their names.

use std::sync::Arc;

use rekuiper_functions::{
    Accumulator, Arg, Cx, FunctionDef, Kind, NullRule, analytic::had_changed_star,
    multi::extract_columns,
};
use rekuiper_value::{Error, Result, Value};

/// The first value of a group, whatever it is, `Missing` too: what a plain column beside
/// aggregates shows where a window keeps no rows. Its result goes back into the same column.
pub static FIRST: FunctionDef = FunctionDef {
    name: "$first",
    args: &[Arg::any("value")],
    hands_on: true,
    ..FunctionDef::of(Kind::Aggregate { new: || Box::<First>::default(), star: false })
};

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
    Ok(found.map_or(Value::Null, |o| Value::Array(Arc::new(vec![Value::Object(o)]))))
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
    Err(Error::new("unnest makes rows only as a whole item of the select list"))
}

#[derive(Default)]
struct First(Option<Value>);

impl Accumulator for First {
    fn add(&mut self, args: &[Value]) -> Result<()> {
        if self.0.is_none() {
            self.0 = Some(args.first().cloned().unwrap_or_default());
        }
        Ok(())
    }

    fn finish(&self) -> Result<Value> {
        Ok(self.0.clone().unwrap_or_default())
    }

    // an array of one or none, so that a null that was seen differs from nothing seen
    fn save(&self) -> Value {
        Value::array(self.0.iter().cloned().collect())
    }

    fn load(&mut self, state: &Value) {
        self.0 = state.as_array().and_then(|a| a.first().cloned());
    }
}
