//! Rows given in the configuration.

use super::{Connector, Prop, Source, prop};

pub static CONNECTOR: Connector = Connector {
    name: "simulator",
    label: "Simulator",
    en: "Sends given rows, one after the other.",
    zh: "依次发送给定的数据。",
    source: Some(Source {
        datasource: "",
        props: &[SOURCE],
    }),
    lookup: true,
    sink: None,
    connection: false,
};

static SOURCE: &[Prop] = &[
    prop(
        "data",
        r#"[{"temperature":22.5,"humidity":60}]"#,
        "list_object",
        "Data",
        "The rows.",
    ),
    prop(
        "interval",
        "\"1s\"",
        "string",
        "Interval",
        "Time between two rows.",
    ),
    prop(
        "loop",
        "true",
        "bool",
        "Loop",
        "Whether to begin again after the last row.",
    ),
];
