//! `mqtt`: subscribes and publishes at an MQTT 3.1, 3.1.1 or 5 broker.
//!
//! One client connection per source or sink, or one for all that name the same connection
//! (`connectionSelector`). It reconnects for ever with growing pauses, subscribes anew each time,
//! answers keep-alives even while a full queue keeps it from reading, and acknowledges QoS 1 and 2
//! messages in the order of their arrival, only after the rules' sinks took them. When the server
//! is the broker inside this process, messages come through memory instead of a socket.

mod acks;
mod client;
mod door;
mod options;
mod outgoing;
mod pace;
mod pool;
mod reader;
mod sink;
mod source;
mod stream;
mod websocket;
mod work;

pub use client::{Client, Subscription};
pub use options::ClientOptions;
pub use pool::ClientPool;

use crate::ConnectorDef;

pub static CONNECTOR: ConnectorDef = ConnectorDef {
    name: "mqtt",
    source: Some(source::open),
    sink: Some(sink::open),
    lookup: None,
};
