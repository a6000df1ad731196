//! HTTP requests of others to this server.

use super::{Connector, Prop, Source, prop, shared};

pub static CONNECTOR: Connector = Connector {
    name: "httppush",
    label: "HTTP push",
    en: "Takes HTTP requests at a path of the data server.",
    zh: "在数据服务器的路径上接收 HTTP 请求。",
    source: Some(Source {
        datasource: "Path, beginning with a slash.",
        props: &[SOURCE, shared::SENT_TO, shared::BYTES, shared::PAYLOAD],
    }),
    lookup: false,
    sink: None,
    connection: true,
};

static SOURCE: &[Prop] =
    &[prop("method", "\"POST\"", "string", "Method", "Method to take.").of(r#"["POST","PUT"]"#)];
