use crate::{Arg, FunctionDef, Kind, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "meta",
    family: "other",
    args: &[Arg::new("key", Refuse(1 | 2 | 4 | 8 | 16 | 32 | 128))],
    returns: "any",
    doc: "What the source knows of the message beside its payload: `meta(topic)`, \
          `meta(stream.topic)`, `meta(properties->unit)`, `meta(*)` for all. A key that is not \
          there gives null. The argument is a key, not a column.",
    ..FunctionDef::of(Kind::Planned)
};
