use rekuiper_value::{Result, Value};

use crate::registry::cases;
use crate::{Arg, FunctionDef, Kind, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "stddevs",
    family: "aggregate",
    args: &[Arg::new("number", Refuse::NOT_NUMBER)],
    returns: "float",
    doc: "The standard deviation estimated from a sample; fewer than two numbers give null. \
          Anything but numbers fails.",
    ..FunctionDef::of(Kind::Aggregate {
        new: super::new::<Stddevs>,
        star: false,
    })
};

super::sample::of_sample!(Stddevs, "stddevs", |sample| sample
    .variance(1)
    .map(f64::sqrt));

cases! {
    aggregate: "[[4],[9],[-2],[6],[5],[5]]" => "3.6193922141707713", "[[7]]" => "null",
    "[[true]]" => "error",
}
