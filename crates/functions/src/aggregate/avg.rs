use rekuiper_value::{Result, Value};

use super::numbers::Total;
use crate::arguments::{at, whole_of};
use crate::registry::cases;
use crate::{Arg, FunctionDef, Kind, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "avg",
    family: "aggregate",
    args: &[Arg::new("number", Refuse::NOT_NUMBER)],
    returns: "number",
    doc: "The mean. Of a BIGINT column it is a whole number, cut towards zero; no number gives \
          null. Anything but numbers fails.",
    ..FunctionDef::of(Kind::Aggregate {
        new: super::new::<Avg>,
        star: false,
    })
};

#[derive(Default)]
struct Avg {
    total: Total,
    count: i64,
}

impl super::Fold for Avg {
    fn add(&mut self, args: &[Value]) -> Result<()> {
        let value = at(args, 0);
        if !value.is_null() {
            self.total.add(DEF.name, value)?;
            self.count += 1;
        }
        Ok(())
    }

    fn finish(&self) -> Result<Value> {
        Ok(match &self.total {
            _ if self.count == 0 => Value::Null,
            Total::Ints(i) => Value::Int((i / i128::from(self.count)) as i64),
            total => Value::Float(total.as_f64() / self.count as f64),
        })
    }

    fn save(&self) -> Value {
        Value::array(vec![self.total.save(), Value::Int(self.count)])
    }

    fn load(&mut self, state: &Value) {
        let items = super::saved_items(state);
        self.total = Total::load(at(&items, 0));
        self.count = whole_of(at(&items, 1)).unwrap_or(0);
    }
}

cases! {
    aggregate: "[[1],[2],[null]]" => "1.5", "[[null]]" => "null", "[]" => "null",
    "[[1],[\"x\"]]" => "error",
}
