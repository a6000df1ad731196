use crate::{Arg, FunctionDef, Kind, Refuse};

pub const DEF: FunctionDef = FunctionDef {
    name: "mqtt",
    family: "other",
    args: &[Arg::new("key", Refuse(1 | 2 | 4 | 8 | 16 | 32 | 128))],
    returns: "text",
    doc: "The `topic` or `messageid` of the MQTT message, null where the source gives none. Any \
          other key is refused. meta() gives these and more.",
    ..FunctionDef::of(Kind::Planned)
};
