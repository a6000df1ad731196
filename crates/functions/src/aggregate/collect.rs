use rekuiper_value::{Result, Value};

use crate::arguments::at;
use crate::registry::cases;
use crate::{Arg, FunctionDef, Kind};

pub const DEF: FunctionDef = FunctionDef {
    name: "collect",
    family: "aggregate",
    args: &[Arg::any("value")],
    returns: "array",
    doc: "An array of the values, nulls kept; `collect(*)` of the whole rows. Null over an empty \
          window.",
    ..FunctionDef::of(Kind::Aggregate {
        new: super::new::<Collect>,
        star: true,
    })
};

#[derive(Default)]
struct Collect(Vec<Value>);

impl super::Fold for Collect {
    fn add(&mut self, args: &[Value]) -> Result<()> {
        self.0.push(match at(args, 0) {
            Value::Missing => Value::Null,
            value => value.clone(),
        });
        Ok(())
    }

    fn finish(&self) -> Result<Value> {
        Ok(if self.0.is_empty() {
            Value::Null
        } else {
            Value::array(self.0.clone())
        })
    }

    fn save(&self) -> Value {
        Value::array(self.0.clone())
    }

    fn load(&mut self, state: &Value) {
        self.0 = super::saved_items(state);
    }
}

cases! {
    aggregate: "[[1],[null],[\"x\"]]" => "[1,null,\"x\"]", "[]" => "null",
    "[[{\"a\":1}],[[9007199254740993]]]" => "[{\"a\":1},[9007199254740993]]",
}
