use std::cmp::Ordering;

use rekuiper_value::{Result, Value};

use super::max::take_extreme;
use crate::arguments::at;
use crate::registry::cases;
use crate::{Arg, FunctionDef, Kind, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "min",
    family: "aggregate",
    args: &[Arg::new("value", Refuse::NOT_NUMBER)],
    returns: "number or text",
    doc: "The least number, or the least text bytewise. Other kinds, and numbers and text in one \
          group, fail.",
    ..FunctionDef::of(Kind::Aggregate {
        new: super::new::<Min>,
        star: false,
    })
};

#[derive(Default)]
struct Min(Value);

impl super::Fold for Min {
    fn add(&mut self, args: &[Value]) -> Result<()> {
        take_extreme(DEF.name, &mut self.0, at(args, 0), Ordering::Less)
    }

    fn finish(&self) -> Result<Value> {
        Ok(if self.0.is_null() {
            Value::Null
        } else {
            self.0.clone()
        })
    }

    fn save(&self) -> Value {
        self.0.clone()
    }

    fn load(&mut self, state: &Value) {
        self.0 = state.clone();
    }
}

cases! {
    aggregate: "[[1],[-0.75],[null]]" => "-0.75", "[[\"b\"],[\"a\"]]" => "\"a\"",
    "[[\"b\"],[1]]" => "error", "[[[1]]]" => "error", "[]" => "null",
}
