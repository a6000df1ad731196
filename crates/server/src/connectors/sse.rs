//! Server-sent events to whoever listens.

use super::{Connector, Prop, prop};

pub static CONNECTOR: Connector = Connector {
    name: "sse",
    label: "SSE",
    en: "Sends results as server-sent events at a path of the data server.",
    zh: "在数据服务器的路径上以服务器推送事件发送结果。",
    source: None,
    lookup: false,
    sink: Some(&[SINK]),
    connection: true,
};

static SINK: &[Prop] = &[prop(
    "endpoint",
    "\"\"",
    "string",
    "Path",
    "Path, beginning with a slash.",
)
.must()];
