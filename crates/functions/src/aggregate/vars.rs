use rekuiper_value::{Result, Value};

use crate::registry::cases;
use crate::{Arg, FunctionDef, Kind, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "vars",
    family: "aggregate",
    args: &[Arg::new("number", Refuse::NOT_NUMBER)],
    returns: "float",
    doc: "The variance estimated from a sample; fewer than two numbers give null. Anything but \
          numbers fails.",
    ..FunctionDef::of(Kind::Aggregate {
        new: super::new::<Vars>,
        star: false,
    })
};

super::sample::of_sample!(Vars, "vars", |sample| sample.variance(1));

cases! {
    aggregate: "[[2.5],[1],[3],[7.5]]" => "7.833333333333333", "[[4],[null],[10]]" => "18",
    "[[4]]" => "null", "[[{}]]" => "error",
}
