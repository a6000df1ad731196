use rekuiper_value::{Result, Value};

use super::percentile_cont::Percentile;
use crate::registry::cases;
use crate::{Arg, FunctionDef, Kind, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "percentile_disc",
    family: "aggregate",
    args: &[
        Arg::new("number", Refuse::NOT_NUMBER),
        Arg::new("fraction", Refuse::NOT_NUMBER),
    ],
    returns: "float",
    doc: "The first of the n sorted numbers at or after place fraction × n (fraction 0 to 1); no \
          number gives null.",
    ..FunctionDef::of(Kind::Aggregate {
        new: super::new::<Disc>,
        star: false,
    })
};

#[derive(Default)]
struct Disc(Percentile);

impl super::Fold for Disc {
    fn add(&mut self, args: &[Value]) -> Result<()> {
        self.0.add(DEF.name, args)
    }

    fn finish(&self) -> Result<Value> {
        let Some((sorted, place)) = self.0.place(DEF.name)? else {
            return Ok(Value::Null);
        };
        let nth = (place.ceil() as usize).clamp(1, sorted.len());
        Ok(sorted
            .get(nth - 1)
            .copied()
            .map_or(Value::Null, Value::Float))
    }

    fn save(&self) -> Value {
        self.0.save()
    }

    fn load(&mut self, state: &Value) {
        self.0.load(state);
    }
}

cases! {
    aggregate: "[[4,0.25],[9,0.25],[-2,0.25],[6,0.25],[5,0.25],[5,0.25]]" => "4",
    "[[3,0],[1,0]]" => "1", "[[3,1],[1,1]]" => "3", "[[1,1.2]]" => "error",
    "[[null,0.5]]" => "null",
}
