//! SQL databases.

use super::{Connector, Prop, Source, link, prop};

pub static CONNECTOR: Connector = Connector {
    name: "sql",
    label: "SQL",
    en: "Reads from or writes to a SQL database.",
    zh: "读写 SQL 数据库。",
    source: Some(Source {
        datasource: "Table to look rows up in.",
        props: &[SOURCE],
    }),
    lookup: true,
    sink: Some(&[SINK]),
    connection: true,
};

static SOURCE: &[Prop] = &[
    link("dburl", "\"\"", "string", "URL", "Address of the database."),
    prop(
        "interval",
        "10000",
        "int",
        "Interval",
        "Time between two queries.",
    ),
    prop(
        "internalSqlQueryCfg",
        "null",
        "object",
        "Query",
        "Table, limit and index fields.",
    ),
    prop(
        "templateSqlQueryCfg",
        "null",
        "object",
        "Template",
        "A query of one's own.",
    ),
];

static SINK: &[Prop] = &[
    link("dburl", "\"\"", "string", "URL", "Address of the database."),
    prop(
        "table",
        "\"\"",
        "string",
        "Table",
        "Table to write to; may be a template.",
    )
    .must(),
    prop(
        "fields",
        "[]",
        "list_string",
        "Columns",
        "Columns to write; all when empty.",
    ),
    prop(
        "rowKindField",
        "\"\"",
        "string",
        "Row kind field",
        "Column that says insert, update or delete.",
    ),
    prop(
        "keyField",
        "\"\"",
        "string",
        "Key field",
        "Column of the key of updates.",
    ),
];
