//! `websocket`: text messages of and to WebSocket clients of the data server, or as a client of
//! another server (`addr`).

mod client;
mod sink;
mod source;

#[cfg(test)]
mod tests;

use crate::ConnectorDef;

pub static CONNECTOR: ConnectorDef = ConnectorDef {
    name: "websocket",
    source: Some(source::open),
    sink: Some(sink::open),
    lookup: None,
};
