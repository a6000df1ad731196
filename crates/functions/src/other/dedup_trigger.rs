use crate::{Arg, FunctionDef, Kind, Refuse};

const COLUMN: Refuse = Refuse(1 | 2 | 4 | 8 | 16 | 32 | 128);

pub const DEF: FunctionDef = FunctionDef {
    name: "dedup_trigger",
    family: "other",
    args: &[
        Arg::new("start", COLUMN),
        Arg::new("end", COLUMN),
        Arg::new("now", COLUMN),
        Arg::new("expire", Refuse::NOT_INT_LITERAL),
    ],
    returns: "any",
    doc: "The parts of the span from start to end that no earlier row asked for, as a list of \
          objects with start_key and end_key; null where nothing is left. The row waits until its \
          span is over: until the now of a row is at its end, or as much time has passed. What \
          lies more than `expire`, a whole number, before now is not looked at any more.",
    ..FunctionDef::of(Kind::Planned)
};
