use crate::{FunctionDef, Kind};

pub const DEF: FunctionDef = FunctionDef {
    name: "row_number",
    family: "multi",
    returns: "int",
    doc: "The number of the row in its emission, from 1. OVER(PARTITION BY … ORDER BY …) numbers \
          the rows of each partition in that order. Only in SELECT.",
    ..FunctionDef::of(Kind::Window)
};
