use rekuiper_value::{Result, Value};

use crate::arguments::{at, whole_of};
use crate::registry::cases;
use crate::{Arg, FunctionDef, Kind};

pub const DEF: FunctionDef = FunctionDef {
    name: "count",
    family: "aggregate",
    args: &[Arg::any("value")],
    returns: "int",
    doc: "How many values are not null; `count(*)` counts the rows. Null over an empty window.",
    ..FunctionDef::of(Kind::Aggregate {
        new: super::new::<Count>,
        star: true,
    })
};

/// None until there is a row.
#[derive(Default)]
struct Count(Option<i64>);

impl super::Fold for Count {
    fn add(&mut self, args: &[Value]) -> Result<()> {
        *self.0.get_or_insert(0) += i64::from(!at(args, 0).is_null());
        Ok(())
    }

    fn finish(&self) -> Result<Value> {
        Ok(self.0.map_or(Value::Null, Value::Int))
    }

    fn save(&self) -> Value {
        self.0.map_or(Value::Null, Value::Int)
    }

    fn load(&mut self, state: &Value) {
        self.0 = whole_of(state);
    }
}

cases! {
    aggregate: "[[1],[null],[[]]]" => "2", "[[null]]" => "0", "[]" => "null",
    "[[{\"k\":1}]]" => "1",
}
