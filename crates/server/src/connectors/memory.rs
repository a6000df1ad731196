//! Topics inside the process, between rules.

use super::{Connector, Prop, Source, prop, shared};

pub static CONNECTOR: Connector = Connector {
    name: "memory",
    label: "Memory",
    en: "Passes rows from rule to rule through topics inside the process.",
    zh: "通过进程内的主题在规则之间传递数据。",
    source: Some(Source {
        datasource: "Topic; + and # stand for levels.",
        props: &[SOURCE, shared::SENT_TO],
    }),
    lookup: true,
    sink: Some(&[SINK]),
    connection: false,
};

static SINK: &[Prop] = &[
    prop(
        "topic",
        "\"\"",
        "string",
        "Topic",
        "Topic to publish to; may be a template.",
    )
    .must(),
    prop(
        "rowkindField",
        "\"\"",
        "string",
        "Row kind field",
        "Column that says insert, update, upsert or delete.",
    ),
    prop(
        "keyField",
        "\"\"",
        "string",
        "Key field",
        "Column of the key of updates.",
    ),
];

static SOURCE: &[Prop] = &[prop(
    "bufferLength",
    "1024",
    "int",
    "Buffer",
    "Rows that wait at most; more are dropped and counted.",
)];
