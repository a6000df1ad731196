//! Running rules: streams with their sources and decoders, the rules that subscribe to them, sinks
//! with their workers.
//!
//! The way of a batch: a source task puts it into the stream's queue; the stream's executor decodes
//! it once, for the fields that any of its rules uses, and runs each rule on it in turn, on the
//! same thread; what the rules give is encoded into one buffer per sink and batch, and goes into
//! the sink's queue, from which the sink's worker writes it. A full sink queue makes the executor
//! wait, a full stream queue makes the source wait, and so on to the socket.
//!
//! This crate knows how things run, not what they mean: SQL is in `plan`, operators in `ops`,
//! protocols in `connect`, REST shapes in `server`.

mod build;
mod decode;
mod deliver;
mod engine;
mod error;
mod gate;
mod host;
mod intern;
mod lookup;
mod metrics;
mod output;
mod pack;
mod rule;
mod shape;
mod sink;
mod spares;
mod spec;
mod state;
mod stream;
mod timers;
mod watch;
mod trace;

pub use engine::{Engine, EngineConfig, RunEnd};
pub use error::FlowError;
pub use host::HostServices;
pub use metrics::{NodeKind, NodeReport, Topo};
pub use trace::{TraceMode, TraceStore};
pub use state::StateStore;
pub use spec::{ActionSpec, FlowCatalog, RuleSpec, StreamSpec};
