use crate::{Arg, FunctionDef, Kind, Refuse};

const COLUMN: Refuse = Refuse(1 | 2 | 4 | 8 | 16 | 32 | 128);

pub const DEF: FunctionDef = FunctionDef {
    name: "dedup_trigger",
    family: "other",
    args: &[
        Arg::new("key", COLUMN),
        Arg::new("start", COLUMN),
        Arg::new("end", COLUMN),
        Arg::new("expire", Refuse::NOT_INT_LITERAL),
    ],
    returns: "any",
    doc: "Whether a request for the span of time start to end is new: spans that earlier requests \
          of the same key already cover are left out. `expire`, a whole number, is how long a \
          request is remembered.",
    ..FunctionDef::of(Kind::Planned)
};
