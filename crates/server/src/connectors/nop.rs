//! Nowhere.

use super::{Connector, Prop, prop};

pub static CONNECTOR: Connector = Connector {
    name: "nop",
    label: "Nop",
    en: "Throws results away.",
    zh: "丢弃结果。",
    source: None,
    lookup: false,
    sink: Some(&[SINK]),
    connection: false,
};

static SINK: &[Prop] = &[prop(
    "log",
    "false",
    "bool",
    "Log",
    "Whether results go to the log.",
)];
