use rekuiper_value::{Result, Value};

use crate::registry::cases;
use crate::{Arg, FunctionDef, Kind, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "stddev",
    family: "aggregate",
    args: &[Arg::new("number", Refuse::NOT_NUMBER)],
    returns: "float",
    doc: "The standard deviation of the whole population; no number gives null. Anything but \
          numbers fails.",
    ..FunctionDef::of(Kind::Aggregate {
        new: super::new::<Stddev>,
        star: false,
    })
};

super::sample::of_sample!(Stddev, "stddev", |sample| sample.variance(0).map(f64::sqrt));

cases! {
    aggregate: "[[4],[9],[-2],[6],[5],[5]]" => "3.304037933599835", "[[7],[null]]" => "0",
    "[[null]]" => "null", "[[\"x\"]]" => "error",
}
