use std::cmp::Ordering;

use rekuiper_value::{Result, Value};

use crate::arguments::{at, compare_numbers};
use crate::registry::cases;
use crate::{Arg, FunctionDef, Kind, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "max",
    family: "aggregate",
    args: &[Arg::new("value", Refuse::NOT_NUMBER)],
    returns: "number or text",
    doc: "The greatest number, or the greatest text bytewise. Other kinds, and numbers and text \
          in one group, fail.",
    ..FunctionDef::of(Kind::Aggregate {
        new: super::new::<Max>,
        star: false,
    })
};

#[derive(Default)]
struct Max(Value);

impl super::Fold for Max {
    fn add(&mut self, args: &[Value]) -> Result<()> {
        take_extreme(DEF.name, &mut self.0, at(args, 0), Ordering::Greater)
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

/// Puts the value in the place of the best so far where its order to that is the wanted one.
pub(super) fn take_extreme(
    name: &str,
    best: &mut Value,
    value: &Value,
    wanted: Ordering,
) -> Result<()> {
    let order = match (&*best, value) {
        (_, v) if v.is_null() => return Ok(()),
        (b, v) if b.is_null() && (v.is_number() || v.as_str().is_some()) => wanted,
        (b, v) if b.is_number() && v.is_number() => compare_numbers(v, b),
        (Value::Str(b), Value::Str(v)) => v.as_str().cmp(b.as_str()),
        (Value::Str(_), v) => return Err(super::unfit(name, "all text", v)),
        (b, v) if b.is_null() => return Err(super::unfit(name, "numbers or text", v)),
        (_, v) => return Err(super::unfit(name, "all numbers", v)),
    };
    if order == wanted {
        *best = value.clone();
    }
    Ok(())
}

cases! {
    aggregate: "[[1],[7],[2.5],[null]]" => "7", "[[\"kiwi\"],[\"pear\"],[\"Apple\"]]" => "\"pear\"",
    "[[null]]" => "null", "[[3],[\"kiwi\"]]" => "error", "[[true]]" => "error", "[]" => "null",
    "[[9007199254740993],[9007199254740992]]" => "9007199254740993",
}
