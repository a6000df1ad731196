use rekuiper_value::{Error, Result, Value};

use super::sample::Sample;
use crate::arguments::{at, wrong};
use crate::registry::cases;
use crate::{Arg, FunctionDef, Kind, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "percentile_cont",
    aliases: &["percentile"],
    family: "aggregate",
    args: &[
        Arg::new("number", Refuse::NOT_NUMBER),
        Arg::new("fraction", Refuse::NOT_NUMBER),
    ],
    returns: "float",
    doc: "The value below which the fraction (0 to 1) of the n sorted numbers lies: the value at \
          place fraction × n, or the mean of its neighbours where that is no whole number. A \
          place before the first fails; no number gives null.",
    ..FunctionDef::of(Kind::Aggregate {
        new: super::new::<Cont>,
        star: false,
    })
};

/// Numbers and the fraction that is asked for.
#[derive(Default)]
pub(super) struct Percentile {
    sample: Sample,
    fraction: Value,
}

impl Percentile {
    pub(super) fn add(&mut self, name: &str, args: &[Value]) -> Result<()> {
        if self.fraction.is_null() {
            self.fraction = at(args, 1).clone();
        }
        self.sample.add(name, at(args, 0))
    }

    /// The numbers in their order and the place that the fraction gives; None without numbers.
    pub(super) fn place(&self, name: &str) -> Result<Option<(Vec<f64>, f64)>> {
        if self.sample.0.is_empty() {
            return Ok(None);
        }
        let fraction = self.fraction.as_f64();
        let fraction = fraction.ok_or_else(|| wrong(name, 1, "a fraction", &self.fraction))?;
        if !(0.0..=1.0).contains(&fraction) {
            return Err(Error::new(format!(
                "{name}: the fraction must be 0 to 1, not {fraction}"
            )));
        }
        let sorted: Vec<f64> = self
            .sample
            .sorted()
            .into_iter()
            .filter_map(Value::as_f64)
            .collect();
        if sorted.len() == 1 {
            return Ok(Some((sorted, 1.0))); // of one number every percentile is that one
        }
        let place = fraction * sorted.len() as f64;
        // 0.1 × 30 is 3.0000000000000004
        let near = place.round();
        let place = if (place - near).abs() < 1e-9 {
            near
        } else {
            place
        };
        Ok(Some((sorted, place)))
    }

    pub(super) fn save(&self) -> Value {
        Value::array(vec![self.sample.save(), self.fraction.clone()])
    }

    pub(super) fn load(&mut self, state: &Value) {
        let items = super::saved_items(state);
        self.sample.load(at(&items, 0));
        self.fraction = at(&items, 1).clone();
    }
}

#[derive(Default)]
struct Cont(Percentile);

impl super::Fold for Cont {
    fn add(&mut self, args: &[Value]) -> Result<()> {
        self.0.add(DEF.name, args)
    }

    fn finish(&self) -> Result<Value> {
        let Some((sorted, place)) = self.0.place(DEF.name)? else {
            return Ok(Value::Null);
        };
        let below = place.floor() as usize;
        let value = |nth: usize| nth.checked_sub(1).and_then(|i| sorted.get(i)).copied();
        let found = match (value(below), value(below + 1)) {
            (Some(v), _) if place.fract() == 0.0 => Some(v),
            (Some(a), Some(b)) => Some((a + b) / 2.0),
            _ => None,
        };
        found.map(Value::Float).ok_or_else(|| {
            Error::new("percentile_cont: the fraction points before the first value")
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
    aggregate: "[[4,0.9],[9,0.9],[-2,0.9],[6,0.9],[5,0.9],[5,0.9]]" => "7.5",
    "[[1,0.5],[2.5,0.5],[3,0.5],[7,0.5]]" => "2.5", "[[1,1],[2,1]]" => "2",
    "[[null,0.5]]" => "null", "[[1,1.2]]" => "error", "[[1,0.1]]" => "1",
    "[[1,0.1],[2,0.1]]" => "error",
    "[[1,\"x\"]]" => "error",
    "[[\"x\",0.5]]" => "error",
}
