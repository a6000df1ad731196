//! The border to the engine: all that the routes need of what runs rules. Object
//! safe: the server is the same whatever runs its rules.

mod connections;
pub mod flow;
mod otlp;
pub mod probe;
mod trial;
mod view;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::sync::mpsc;

use crate::error::{ApiError, code};
use crate::rules::definition::RuleDef;

pub type Fut<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;
pub type Props = Map<String, Value>;

/// A refusal of the engine, with the numeric code the client shall see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineError {
    pub code: u16,
    pub message: String,
}

impl EngineError {
    /// The rule is wrong: SQL, plan, options.
    pub fn undefined(message: impl Into<String>) -> Self {
        EngineError {
            code: code::UNDEFINED,
            message: message.into(),
        }
    }

    /// A source or sink cannot be set up.
    pub fn executor(message: impl Into<String>) -> Self {
        EngineError {
            code: code::EXECUTOR,
            message: message.into(),
        }
    }

    /// A peer cannot be reached.
    pub fn io(message: impl Into<String>) -> Self {
        EngineError {
            code: code::IO,
            message: message.into(),
        }
    }
}

impl From<EngineError> for ApiError {
    fn from(e: EngineError) -> Self {
        ApiError::new(e.code, e.message)
    }
}

pub type EngineResult<T> = Result<T, EngineError>;

/// A rule that can be planned.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Checked {
    /// The streams and tables it reads, by name.
    pub sources: Vec<String>,
}

/// How a run ended by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RunEnd {
    /// All sources ended; the text may say more.
    Done(String),
    Failed(String),
}

/// Called once when a run ends by itself; never after `stop` was asked for has returned.
pub type OnEnd = Box<dyn FnOnce(RunEnd) + Send>;

/// The numbers of one node; times in ms since 1970, 0 = never.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NodeMetrics {
    pub records_in: u64,
    pub records_out: u64,
    pub messages_processed: u64,
    pub process_latency_us: u64,
    pub buffer_length: u64,
    pub last_invocation: i64,
    pub exceptions: u64,
    pub last_exception: String,
    pub last_exception_time: i64,
    /// Sources and sinks only.
    pub connection: Option<ConnectionMetrics>,
    /// Counts of processing times: up to 10 us, 20 us, doubling to 5242880 us, and above.
    pub latency_histogram: Option<[u64; 21]>,
    pub latency_sum_us: u64,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct ConnectionMetrics {
    /// 1 connected, 0 connecting or none, -1 disconnected.
    pub status: i8,
    pub last_connected: i64,
    pub last_disconnected: i64,
    pub last_disconnected_message: String,
    pub last_try: i64,
}

/// Which node feeds which; names without the instance number.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Topo {
    pub sources: Vec<String>,
    pub edges: Vec<(String, Vec<String>)>,
}

/// A source or sink connection as the API shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConnectionStatus {
    /// `connected`, `connecting` or `disconnected`.
    pub status: String,
    pub error: String,
    pub ref_count: usize,
}

/// A connection that rules made for themselves.
#[derive(Debug, Clone)]
pub struct InternalConnection {
    pub id: String,
    pub typ: String,
    pub props: Props,
    pub status: ConnectionStatus,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    Source,
    Sink,
    Lookup,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TraceStrategy {
    Always,
    Head,
}

/// A trial run: a rule whose results go to whoever listens.
#[derive(Debug, Clone)]
pub struct TrialDef {
    pub id: String,
    pub sql: String,
    /// Stream name to its rows, pace and whether they begin again.
    pub mocks: Vec<Mock>,
    /// Options common to all sinks.
    pub sink_props: Props,
}

#[derive(Debug, Clone)]
pub struct Mock {
    pub stream: String,
    pub rows: Vec<Value>,
    pub interval_ms: u64,
    pub repeat: bool,
}

/// Ends the run when dropped.
pub trait TrialRun: Send + Sync {}

/// What may change in the catalog that the engine must hear of. It reads the new state itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    LookupTableCreated(String),
    LookupTableDropped(String),
    ConnectionPut(String),
    ConnectionDropped(String),
    SchemaPut { kind: String, name: String },
    SchemaDropped { kind: String, name: String },
    ServicePut(String),
    ServiceDropped(String),
    ScriptPut(String),
    ScriptDropped(String),
}

pub trait RuleEngine: Send + Sync + 'static {
    /// Plans the rule and provisions its sources and sinks without starting anything.
    fn check<'a>(&'a self, rule: &'a Arc<RuleDef>) -> Fut<'a, EngineResult<Checked>>;

    fn start(&self, rule: Arc<RuleDef>, on_end: OnEnd) -> Fut<'_, EngineResult<()>>;

    /// Ends a run; what is under way is written first. Unknown ids are fine.
    fn stop<'a>(&'a self, id: &'a str) -> Fut<'a, ()>;

    /// The rule is gone: ends its run, drops metrics, state and caches. A sink that takes long to
    /// write what it has goes on with that by itself.
    fn forget<'a>(&'a self, id: &'a str) -> Fut<'a, ()>;

    /// Nodes and numbers of the run, or of the last one.
    fn metrics(&self, id: &str) -> Vec<(String, NodeMetrics)>;

    /// None when the rule never started.
    fn topo(&self, id: &str) -> Option<Topo>;

    /// Output columns and their places; None when the rule never started.
    fn schema(&self, id: &str) -> Option<Vec<(String, Option<usize>)>>;

    /// The plan as text, one node a line.
    fn explain<'a>(&'a self, rule: &'a Arc<RuleDef>) -> Fut<'a, EngineResult<String>>;

    /// CPU time by rule; None where it is not measured.
    fn cpu_usage(&self) -> Option<Vec<(String, u64)>>;

    /// Rewinds a source.
    fn reset_state<'a>(
        &'a self,
        id: &'a str,
        stream: &'a str,
        input: &'a Props,
    ) -> Fut<'a, EngineResult<()>>;

    /// The rows that joins with scan tables hold, as (emitter, row).
    fn scan_tables<'a>(&'a self, id: &'a str) -> Fut<'a, EngineResult<Vec<(String, Value)>>>;

    /// Traces rows of a running rule from now on, or no more.
    fn set_trace(&self, id: &str, strategy: Option<TraceStrategy>) -> EngineResult<()>;

    fn traces_of(&self, id: &str, limit: usize) -> Vec<String>;

    fn trace(&self, trace_id: &str) -> Option<Value>;

    fn set_exporter(&self, on: bool, service: &str, collector: &str) -> EngineResult<()>;

    fn check_trial<'a>(&'a self, trial: &'a TrialDef) -> Fut<'a, EngineResult<()>>;

    /// Results go into `out`, which is bounded; a full queue drops the oldest knowledge, not rows
    /// of rules.
    fn start_trial(
        &self,
        trial: TrialDef,
        out: mpsc::Sender<String>,
    ) -> Fut<'_, EngineResult<Box<dyn TrialRun>>>;

    fn changed<'a>(&'a self, change: Change) -> Fut<'a, EngineResult<()>>;

    fn connection_status(&self, id: &str) -> Option<ConnectionStatus>;

    fn internal_connections(&self) -> Vec<InternalConnection>;

    /// Tries a configuration; an error of code 1003 where the peer cannot be reached.
    fn test_connection<'a>(
        &'a self,
        side: Side,
        typ: &'a str,
        props: &'a Props,
    ) -> Fut<'a, EngineResult<()>>;
}
