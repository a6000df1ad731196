use rekuiper_value::{Result, Value};

use crate::arguments::at;
use crate::registry::cases;
use crate::{Arg, FunctionDef, Kind, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "last_value",
    family: "aggregate",
    args: &[
        Arg::any("value"),
        Arg::new("ignore_null", Refuse(1 | 2 | 4 | 16 | 64 | 128)),
    ],
    returns: "any",
    doc: "The last row's value; with true the last one that is not null.",
    ..FunctionDef::of(Kind::Aggregate {
        new: super::new::<Last>,
        star: true,
    })
};

#[derive(Default)]
struct Last(Value);

impl super::Fold for Last {
    fn add(&mut self, args: &[Value]) -> Result<()> {
        let value = at(args, 0);
        if !(value.is_null() && super::flag(args, 1)) {
            self.0 = value.clone();
        }
        Ok(())
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
    aggregate: "[[4,true],[10,true],[null,true]]" => "10", "[[4,false],[null,false]]" => "null",
    "[[null,true]]" => "null", "[]" => "null", "[[9007199254740993,true]]" => "9007199254740993",
}
