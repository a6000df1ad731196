//! Redis stores.

use super::{Connector, Prop, Source, link, prop};

pub static CONNECTOR: Connector = Connector {
    name: "redis",
    label: "Redis",
    en: "Looks rows up in a Redis store, or writes results to one.",
    zh: "在 Redis 中查找数据，或将结果写入 Redis。",
    source: Some(Source {
        datasource: "Number of the database.",
        props: &[SOURCE],
    }),
    lookup: true,
    sink: Some(&[SINK]),
    connection: false,
};

const ADDR: &str = "\"127.0.0.1:6379\"";

static SOURCE: &[Prop] = &[
    link("addr", ADDR, "string", "Address", "Host and port."),
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
        "dataType",
        "\"string\"",
        "string",
        "Data type",
        "What a key holds.",
    )
    .of(r#"["string","list"]"#),
];

static SINK: &[Prop] = &[
    link("addr", ADDR, "string", "Address", "Host and port."),
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
    prop("key", "\"\"", "string", "Key", "Key of all results."),
    prop(
        "field",
        "\"\"",
        "string",
        "Field",
        "Column that holds the key.",
    ),
    prop(
        "keyType",
        "\"single\"",
        "string",
        "Key type",
        "One key, or one for each column.",
    )
    .of(r#"["single","multiple"]"#),
    prop(
        "dataType",
        "\"string\"",
        "string",
        "Data type",
        "What a key holds.",
    )
    .of(r#"["string","list"]"#),
    prop(
        "expiration",
        "\"-1ns\"",
        "string",
        "Expiration",
        "Life of a key; below 0 for ever.",
    ),
    prop(
        "rowkindField",
        "\"\"",
        "string",
        "Row kind field",
        "Column that says insert, update, upsert or delete.",
    ),
];
