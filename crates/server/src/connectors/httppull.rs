//! HTTP servers that are asked again and again.

use super::{Connector, Prop, Source, link, prop, shared};

pub static CONNECTOR: Connector = Connector {
    name: "httppull",
    label: "HTTP pull",
    en: "Asks an HTTP server at intervals.",
    zh: "定时请求 HTTP 服务器。",
    source: Some(Source {
        datasource: "Path after the url.",
        props: &[SOURCE, shared::TLS],
    }),
    lookup: true,
    sink: None,
    connection: true,
};

const BODIES: &str = r#"["none","text","json","html","xml","javascript","form"]"#;

static SOURCE: &[Prop] = &[
    link(
        "url",
        "\"http://localhost\"",
        "string",
        "URL",
        "Address of the server.",
    ),
    prop(
        "method",
        "\"post\"",
        "string",
        "Method",
        "Method of the request.",
    )
    .of(r#"["get","post","put","delete"]"#),
    prop(
        "bodyType",
        "\"json\"",
        "string",
        "Body type",
        "Form of the body.",
    )
    .of(BODIES),
    prop(
        "timeout",
        "5000",
        "int",
        "Timeout",
        "Time that a request may take.",
    ),
    prop(
        "headers",
        "null",
        "object",
        "Headers",
        "Headers of the request.",
    ),
    prop(
        "interval",
        "10000",
        "int",
        "Interval",
        "Time between two requests.",
    ),
    prop("body", "\"\"", "string", "Body", "Body of the request."),
    prop(
        "incremental",
        "false",
        "bool",
        "Incremental",
        "Leave out answers equal to the last.",
    ),
    prop(
        "responseType",
        "\"code\"",
        "string",
        "Success",
        "By status code, or by code in the body.",
    )
    .of(r#"["code","body"]"#),
    prop("oAuth", "null", "object", "OAuth", "How to get a token."),
    prop(
        "states",
        "null",
        "object",
        "States",
        "Values for templates in the url; answers with fields of that name change them.",
    ),
    prop(
        "compression",
        "null",
        "string",
        "Compression",
        "How answers with a Content-Encoding are packed.",
    )
    .of(r#"["","zlib","gzip","flate","zstd"]"#),
    prop("debugResp", "null", "bool", "Log answers", "Whether answers go to the log."),
    prop("sendInterval", "null", "string", "Send interval", "Pause between rows of one answer."),
];
