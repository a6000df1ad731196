//! Neuron gateways.

use super::{Connector, Prop, Source, link, prop};

const URL: &str = "\"tcp://127.0.0.1:7081\"";

pub static CONNECTOR: Connector = Connector {
    name: "neuron",
    label: "Neuron",
    en: "Talks with a Neuron gateway.",
    zh: "与 Neuron 网关通信。",
    source: Some(Source {
        datasource: "",
        props: &[SOURCE],
    }),
    lookup: false,
    sink: Some(&[SINK]),
    connection: false,
};

static SOURCE: &[Prop] = &[link("url", URL, "string", "URL", "Address of the gateway.")];

static SINK: &[Prop] = &[
    link("url", URL, "string", "URL", "Address of the gateway."),
    prop(
        "nodeName",
        "\"\"",
        "string",
        "Node",
        "Node to write to; may be a template.",
    ),
    prop(
        "groupName",
        "\"\"",
        "string",
        "Group",
        "Group to write to; may be a template.",
    ),
    prop(
        "tags",
        "[]",
        "list_string",
        "Tags",
        "Columns to write; all when empty.",
    ),
    prop(
        "raw",
        "false",
        "bool",
        "Raw",
        "Whether the payload goes out as it is.",
    ),
];
