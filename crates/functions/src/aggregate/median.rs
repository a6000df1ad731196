use rekuiper_value::{Result, Value};

use super::sample::Sample;
use crate::arguments::at;
use crate::registry::cases;
use crate::{Arg, FunctionDef, Kind, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "median",
    family: "aggregate",
    args: &[Arg::new("number", Refuse::NOT_NUMBER)],
    returns: "number",
    doc: "The middle value of the sorted numbers, or the mean of the two in the middle. Nulls are \
          left aside; no number gives null. Anything but numbers fails.",
    ..FunctionDef::of(Kind::Aggregate {
        new: super::new::<Median>,
        star: false,
    })
};

#[derive(Default)]
struct Median(Sample);

impl super::Fold for Median {
    fn add(&mut self, args: &[Value]) -> Result<()> {
        self.0.add(DEF.name, at(args, 0))
    }

    fn finish(&self) -> Result<Value> {
        let sorted = self.0.sorted();
        let middle = sorted.len() / 2;
        Ok(match sorted.len() {
            0 => Value::Null,
            n if n % 2 == 1 => sorted[middle].clone(),
            _ => {
                let two = [sorted[middle - 1].as_f64(), sorted[middle].as_f64()];
                Value::Float((two[0].unwrap_or(0.0) + two[1].unwrap_or(0.0)) / 2.0)
            }
        })
    }

    fn save(&self) -> Value {
        self.0.save()
    }

    fn load(&mut self, state: &Value) {
        self.0.load(state);
    }
}

cases! {
    aggregate: "[[3],[1],[2]]" => "2", "[[2.5],[1],[3],[7.5]]" => "2.75", "[[null],[4]]" => "4",
    "[[null]]" => "null", "[[\"x\"]]" => "error", "[]" => "null",
}
