use rekuiper_value::{Result, Value};

use crate::registry::cases;
use crate::{Arg, FunctionDef, Kind, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "var",
    family: "aggregate",
    args: &[Arg::new("number", Refuse::NOT_NUMBER)],
    returns: "float",
    doc: "The variance of the whole population; no number gives null. Anything but numbers fails.",
    ..FunctionDef::of(Kind::Aggregate {
        new: super::new::<Var>,
        star: false,
    })
};

super::sample::of_sample!(Var, "var", |sample| sample.variance(0));

cases! {
    aggregate: "[[4],[9],[-2],[6],[5],[5]]" => "10.916666666666666", "[[4],[null],[10]]" => "9",
    "[]" => "null", "[[\"x\"]]" => "error",
}
