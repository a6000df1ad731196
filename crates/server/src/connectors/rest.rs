//! HTTP servers that results are sent to.

use super::{Connector, Prop, link, prop, shared};

pub static CONNECTOR: Connector = Connector {
    name: "rest",
    label: "REST",
    en: "Sends results to an HTTP server.",
    zh: "将结果发送到 HTTP 服务器。",
    source: None,
    lookup: false,
    sink: Some(&[SINK, shared::TLS]),
    connection: false,
};

const BODIES: &str =
    r#"["none","text","json","html","xml","javascript","form","binary","formdata"]"#;

static SINK: &[Prop] = &[
    link(
        "url",
        "\"\"",
        "string",
        "URL",
        "Address to send to; may be a template.",
    ),
    prop(
        "method",
        "\"get\"",
        "string",
        "Method",
        "Method of the request.",
    )
    .of(r#"["get","post","put","delete"]"#),
    prop(
        "bodyType",
        "\"none\"",
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
        "responseType",
        "\"code\"",
        "string",
        "Success",
        "By status code, or by code in the body.",
    )
    .of(r#"["code","body"]"#),
    prop(
        "compression",
        "\"\"",
        "string",
        "Compression",
        "How to compress the body.",
    )
    .of(r#"["","gzip","zstd"]"#),
    prop("oauth", "null", "object", "OAuth", "How to get a token."),
    prop(
        "debugResp",
        "false",
        "bool",
        "Log answers",
        "Whether answers go to the log.",
    ),
    prop(
        "formData",
        "null",
        "object",
        "Form fields",
        "Body type formdata: further fields; values may be templates.",
    ),
    prop(
        "fileFieldName",
        "null",
        "string",
        "File field",
        "Body type formdata: name of the part that holds the payload.",
    ),
];
