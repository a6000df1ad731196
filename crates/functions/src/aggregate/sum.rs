use rekuiper_value::{Result, Value};

use super::numbers::Total;
use crate::arguments::at;
use crate::registry::cases;
use crate::{Arg, FunctionDef, Kind, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "sum",
    family: "aggregate",
    args: &[Arg::new("number", Refuse::NOT_NUMBER)],
    returns: "number",
    doc: "The sum. BIGINT columns give whole numbers, all others floats; no number gives null. \
          Anything but numbers fails.",
    ..FunctionDef::of(Kind::Aggregate {
        new: super::new::<Sum>,
        star: false,
    })
};

#[derive(Default)]
struct Sum(Total);

impl super::Fold for Sum {
    fn add(&mut self, args: &[Value]) -> Result<()> {
        match at(args, 0) {
            value if value.is_null() => Ok(()),
            value => self.0.add(DEF.name, value),
        }
    }

    fn finish(&self) -> Result<Value> {
        Ok(match &self.0 {
            Total::None => Value::Null,
            Total::Ints(i) => i64::try_from(*i).map_or(Value::Float(*i as f64), Value::Int),
            Total::Alone(i) => Value::Wide(*i),
            Total::Floats(f) => Value::Float(*f),
        })
    }

    fn save(&self) -> Value {
        self.0.save()
    }

    fn load(&mut self, state: &Value) {
        self.0 = Total::load(state);
    }
}

cases! {
    aggregate: "[[1],[2.5],[null]]" => "3.5", "[[null]]" => "null", "[]" => "null",
    "[[1],[\"x\"],[2]]" => "error", "[[true]]" => "error",
    "[[9007199254740993]]" => "9007199254740993",
}
