//! Sources, sinks and lookups: the traits, and one folder or file a connector, named by the word
//! users type as TYPE or as an action.
//!
//! Knows no SQL, no rules and no windows: a source hands over batches of messages or rows through
//! [`SourceOut`], a sink takes batches of encoded payloads or rows. What all connectors share of
//! the process around them is in [`Services`]. Registered by one line in [`connectors`].

pub mod data_server;
pub mod intake;
pub mod props;
pub mod registry;
pub mod services;
pub mod status;
pub mod tls;
pub mod traits;

pub mod embed;
pub mod file;
pub mod http;
pub mod httppull;
pub mod httppush;
pub mod log;
pub mod log_to_memory;
pub mod memory;
pub mod mqtt;
pub mod nexmark;
pub mod nop;
pub mod rest;
pub mod simulator;
pub mod sse;
pub mod websocket;

#[cfg(test)]
mod testing;

pub use data_server::DataServer;
pub use props::Props;
pub use registry::{ConnectorDef, connectors, find};
pub use services::Services;
pub use status::ConnStatus;
pub use traits::{
    BoxFuture, ConnectError, Fault, Lookup, Opened, Position, Service, Sink, SinkBatch, SinkCx,
    SinkData, Source, SourceCx, SourceItem, SourceOut, Stopped,
};
