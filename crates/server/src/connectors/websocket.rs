//! WebSockets, as server or client.

use super::{Connector, Prop, Source, link, shared};

pub static CONNECTOR: Connector = Connector {
    name: "websocket",
    label: "WebSocket",
    en: "Exchanges messages over WebSockets, as server or client.",
    zh: "作为服务器或客户端通过 WebSocket 交换消息。",
    source: Some(Source {
        datasource: "Path, beginning with a slash.",
        props: &[PROPS, shared::TLS, shared::SENT_TO, shared::BYTES, shared::PAYLOAD],
    }),
    lookup: false,
    sink: Some(&[PROPS, shared::TLS]),
    connection: true,
};

static PROPS: &[Prop] = &[
    link(
        "addr",
        "\"\"",
        "string",
        "Address",
        "Host and port of the server; empty to be one.",
    )
    .maybe(),
    link(
        "path",
        "\"\"",
        "string",
        "Path",
        "Path, beginning with a slash.",
    )
    .maybe(),
    link("scheme", "\"ws\"", "string", "Scheme", "ws or wss.")
        .of(r#"["ws","wss"]"#)
        .maybe(),
    link(
        "requestHeader",
        "null",
        "object",
        "Headers",
        "Headers of the request as a client, each a list of texts.",
    )
    .maybe(),
];
