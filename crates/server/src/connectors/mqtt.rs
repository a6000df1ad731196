//! MQTT brokers.

use super::{Connector, Prop, Source, link, prop, shared};

pub static CONNECTOR: Connector = Connector {
    name: "mqtt",
    label: "MQTT",
    en: "Subscribes to topics of an MQTT broker, or publishes results to one.",
    zh: "订阅 MQTT 服务器的主题，或将结果发布到 MQTT 服务器。",
    source: Some(Source {
        datasource: "Topic filter; several are parted by commas.",
        props: &[
            SOURCE,
            shared::TLS,
            shared::SENT_TO,
            shared::BYTES,
            shared::PAYLOAD,
            shared::SELECTOR,
        ],
    }),
    lookup: false,
    sink: Some(&[SINK, shared::TLS, shared::SELECTOR]),
    connection: true,
};

const VERSIONS: &str = r#"["3.1","3.1.1","4","5"]"#;

static SOURCE: &[Prop] = &[
    link(
        "server",
        "\"tcp://127.0.0.1:1883\"",
        "string",
        "Server",
        "tcp, ssl, tls, ws or wss address of the broker.",
    ),
    link(
        "username",
        "\"\"",
        "string",
        "User name",
        "Name for the login.",
    )
    .maybe(),
    link(
        "password",
        "\"\"",
        "string",
        "Password",
        "Password for the login.",
    )
    .maybe(),
    link(
        "protocolVersion",
        "\"3.1.1\"",
        "string",
        "Protocol",
        "Version of MQTT.",
    )
    .of(VERSIONS),
    link(
        "clientid",
        "\"\"",
        "string",
        "Client id",
        "Made up when empty.",
    )
    .maybe(),
    prop(
        "qos",
        "1",
        "int",
        "QoS",
        "Quality of service of the subscription.",
    )
    .of("[0,1,2]"),
    prop(
        "enableClientSession",
        "null",
        "bool",
        "Keep session",
        "Whether the broker keeps the session while the client is away.",
    ),
    prop(
        "sessionExpiryIntervalSeconds",
        "null",
        "int",
        "Session expiry",
        "MQTT 5: how long it is kept, in seconds.",
    ),
    prop(
        "eofMessage",
        "null",
        "string",
        "Last message",
        "Payload in base64 that ends the stream.",
    ),
];

static SINK: &[Prop] = &[
    link(
        "server",
        "\"tcp://127.0.0.1:1883\"",
        "string",
        "Server",
        "tcp, ssl, tls, ws or wss address of the broker.",
    ),
    prop(
        "topic",
        "\"\"",
        "string",
        "Topic",
        "Topic to publish to; may be a template.",
    )
    .must(),
    link(
        "clientId",
        "\"\"",
        "string",
        "Client id",
        "Made up when empty.",
    )
    .maybe(),
    link(
        "protocolVersion",
        "\"3.1.1\"",
        "string",
        "Protocol",
        "Version of MQTT.",
    )
    .of(VERSIONS),
    prop(
        "qos",
        "0",
        "int",
        "QoS",
        "Quality of service of the messages.",
    )
    .of("[0,1,2]"),
    link(
        "username",
        "\"\"",
        "string",
        "User name",
        "Name for the login.",
    )
    .maybe(),
    link(
        "password",
        "\"\"",
        "string",
        "Password",
        "Password for the login.",
    )
    .maybe(),
    prop(
        "retained",
        "false",
        "bool",
        "Retained",
        "Whether the broker keeps the last message.",
    ),
    prop(
        "enableClientSession",
        "null",
        "bool",
        "Keep session",
        "Whether the broker keeps the session while the client is away.",
    ),
    prop(
        "sessionExpiryIntervalSeconds",
        "null",
        "int",
        "Session expiry",
        "MQTT 5: how long it is kept, in seconds.",
    ),
    prop(
        "properties",
        "null",
        "object",
        "User properties",
        "MQTT 5: sent with each message; values may be templates.",
    ),
];
