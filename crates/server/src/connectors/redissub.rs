//! Redis channels.

use super::{Connector, Prop, Source, link, prop};

pub static CONNECTOR: Connector = Connector {
    name: "redisSub",
    label: "Redis subscription",
    en: "Listens to Redis channels.",
    zh: "订阅 Redis 频道。",
    source: Some(Source {
        datasource: "",
        props: &[SOURCE],
    }),
    lookup: false,
    sink: None,
    connection: false,
};

static SOURCE: &[Prop] = &[
    link(
        "address",
        "\"127.0.0.1:6379\"",
        "string",
        "Address",
        "Host and port.",
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
    prop("db", "0", "int", "Database", "0 to 15."),
    prop(
        "channels",
        "[]",
        "list_string",
        "Channels",
        "Patterns of channels.",
    ),
];
