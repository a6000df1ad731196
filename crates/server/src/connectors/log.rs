//! The log of the server.

use super::Connector;

pub static CONNECTOR: Connector = Connector {
    name: "log",
    label: "Log",
    en: "Writes results to the log.",
    zh: "将结果写入日志。",
    source: None,
    lookup: false,
    sink: Some(&[]),
    connection: false,
};
