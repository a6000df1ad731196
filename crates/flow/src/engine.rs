//! The engine: starts and stops rules, shares streams between them, answers what they count.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use jiff::tz::TimeZone;
use rekuiper_connect::{Lookup, Services, SourceCx};
use rekuiper_rt::{Clock, task};
use rekuiper_value::batch::BATCH_ROWS_MAX;

use crate::build::{self, Built};
use crate::host::HostServices;
use crate::metrics::{NodeReport, Topo};
use crate::rule::{Ended, RuleCell};
use crate::spec::{FlowCatalog, RuleSpec};
use crate::stream::StreamCell;
use crate::timers::Timers;
use crate::FlowError;

pub use crate::rule::Ended as RunEnd;

/// What an engine is made with.
pub struct EngineConfig {
    pub clock: Clock,
    pub services: Arc<Services>,
    /// The server's time zone (basic.timezone).
    pub zone: TimeZone,
    pub host: Arc<HostServices>,
    /// Most rows that rules get at once; tests set it to 1 and 7.
    pub batch_rows: usize,
}

impl EngineConfig {
    pub fn new(clock: Clock, services: Arc<Services>) -> Self {
        EngineConfig {
            clock,
            services,
            zone: TimeZone::UTC,
            host: Arc::default(),
            batch_rows: BATCH_ROWS_MAX,
        }
    }
}

/// See the module's doc.
pub struct Engine {
    pub config: EngineConfig,
    timers: Arc<Timers>,
    _timer: task::Task,
    /// Streams at work that several rules may read, by name (and time kind).
    shared: Mutex<HashMap<String, Arc<StreamCell>>>,
    runs: Mutex<HashMap<String, Run>>,
    /// Lookup tables by name; open since their creation.
    lookups: Mutex<HashMap<String, Arc<dyn Lookup>>>,
    me: Weak<Engine>,
}

/// A rule that runs, or ran last.
struct Run {
    number: u64,
    live: Option<Live>,
    nodes: Vec<crate::metrics::NodeRef>,
    topo: Topo,
    /// Output columns; `None` when only rows tell (`*`).
    schema: Vec<String>,
}

struct Live {
    cell: Arc<RuleCell>,
    streams: Vec<Seat>,
}

/// A rule's place at a stream.
struct Seat {
    stream: Arc<StreamCell>,
    id: u64,
    /// Key among the shared streams; `None` when the stream is the rule's own.
    shared: Option<String>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

impl Engine {
    /// Must be called within a tokio runtime.
    pub fn new(config: EngineConfig) -> Arc<Self> {
        let timers = Timers::new(config.clock.clone());
        let timer = task::spawn("timers", timers.clone().run());
        Arc::new_cyclic(|me| Engine {
            config,
            timers,
            _timer: timer,
            shared: Mutex::default(),
            runs: Mutex::default(),
            lookups: Mutex::default(),
            me: me.clone(),
        })
    }

    /// Plans a rule and makes its sources and sinks without starting anything. Gives the names of
    /// its streams and tables.
    pub fn check(
        &self,
        spec: &RuleSpec,
        catalog: &dyn FlowCatalog,
    ) -> Result<Vec<String>, FlowError> {
        Ok(build::build(spec, catalog, &self.config)?.sources)
    }

    /// The plan as text, one node a line.
    pub fn explain(
        &self,
        spec: &RuleSpec,
        catalog: &dyn FlowCatalog,
    ) -> Result<String, FlowError> {
        Ok(build::plan(spec, catalog)?.explain.text())
    }

    /// Starts a rule; `on_end` is called when it ends by itself. A run of the same id must have
    /// been stopped.
    pub fn start(
        &self,
        spec: &RuleSpec,
        catalog: &dyn FlowCatalog,
        on_end: Box<dyn FnOnce(Ended) + Send>,
    ) -> Result<(), FlowError> {
        let tables = lock(&self.lookups).clone();
        let built = build::build(spec, catalog, &self.config)?;
        let number = {
            let runs = lock(&self.runs);
            runs.get(&spec.id).map_or(1, |r| r.number + 1)
        };
        let engine = self.me.clone();
        let id = spec.id.clone();
        let ended = Box::new(move |end: Ended| {
            if let Some(engine) = engine.upgrade() {
                engine.release(&id, number);
            }
            on_end(end);
        });
        let Built { parts, streams, nodes, topo, schema, .. } =
            built.finish(spec, &self.config, &tables, ended);
        let cell = RuleCell::new(parts, self.timers.clone(), self.config.clock.clone());
        let mut seats = Vec::new();
        let mut starts = Vec::new();
        let mut all_nodes = Vec::new();
        for (source, made) in streams.into_iter().enumerate() {
            let Some(made) = made else { continue };
            let (stream, start) = self.stream(&made);
            let map = stream.columns(&made.fields);
            let id = stream.subscribe(cell.clone(), source, map);
            all_nodes.extend(build::stream_nodes(&stream, source));
            seats.push(Seat { stream: stream.clone(), id, shared: made.shared.clone() });
            if let Some(start) = start {
                starts.push((stream, start, made));
            }
        }
        all_nodes.extend(nodes);
        let live = Live { cell, streams: seats };
        let run = Run { number, live: Some(live), nodes: all_nodes, topo, schema };
        lock(&self.runs).insert(spec.id.clone(), run);
        for (stream, start, made) in starts {
            let cx = SourceCx {
                services: self.config.services.clone(),
                clock: self.config.clock.clone(),
                status: stream.status.clone(),
                rule: made.shared.as_deref().unwrap_or(&spec.id).into(),
                stream: stream.name.clone(),
                offset: None,
            };
            stream.start(start, made.source, made.decoder, cx);
        }
        Ok(())
    }

    /// The shared stream of that key, or a new one with its start.
    fn stream(
        &self,
        made: &build::MadeStream,
    ) -> (Arc<StreamCell>, Option<crate::stream::StreamStart>) {
        let fresh = || {
            let (cell, start) =
                StreamCell::new(&made.name, made.decodes, self.config.batch_rows);
            (cell, Some(start))
        };
        let Some(key) = &made.shared else { return fresh() };
        let mut shared = lock(&self.shared);
        if let Some(stream) = shared.get(key) {
            return (stream.clone(), None);
        }
        let (cell, start) = fresh();
        shared.insert(key.clone(), cell.clone());
        (cell, start)
    }

    /// The run has ended by itself: lets its streams go.
    fn release(&self, id: &str, number: u64) {
        let live = {
            let mut runs = lock(&self.runs);
            runs.get_mut(id).filter(|r| r.number == number).and_then(|r| r.live.take())
        };
        if let Some(live) = live {
            self.leave(live.streams);
        }
    }

    fn leave(&self, seats: Vec<Seat>) {
        for seat in seats {
            let mut shared = lock(&self.shared);
            let left = seat.stream.unsubscribe(seat.id);
            if left == 0 {
                if let Some(key) = &seat.shared {
                    shared.remove(key);
                }
                drop(shared);
                seat.stream.stop();
            }
        }
    }

    /// Stops a rule; what it already gave is written first, within bounds of time.
    pub async fn stop(&self, id: &str) {
        let live = lock(&self.runs).get_mut(id).and_then(|r| r.live.take());
        if let Some(live) = live {
            self.leave(live.streams);
            live.cell.stop().await;
        }
    }

    /// Whether a run of that rule is under way.
    pub fn is_running(&self, id: &str) -> bool {
        lock(&self.runs).get(id).is_some_and(|r| r.live.is_some())
    }

    /// Makes and opens a lookup table, so that it fills from now on (memory tables).
    pub async fn open_lookup(
        &self,
        name: &str,
        catalog: &dyn FlowCatalog,
    ) -> Result<(), FlowError> {
        let table = build::lookup(name, catalog)?;
        let cx = SourceCx {
            services: self.config.services.clone(),
            clock: self.config.clock.clone(),
            status: Arc::default(),
            rule: name.into(),
            stream: name.into(),
            offset: None,
        };
        table.open(&cx).await?;
        lock(&self.lookups).insert(name.to_owned(), table);
        Ok(())
    }

    pub fn drop_lookup(&self, name: &str) {
        lock(&self.lookups).remove(name);
    }

    /// Stops everything.
    pub async fn shutdown(&self) {
        let ids: Vec<String> = lock(&self.runs).keys().cloned().collect();
        for id in ids {
            self.stop(&id).await;
        }
    }

    /// The rule is gone: nothing of it is kept.
    pub fn forget(&self, id: &str) {
        lock(&self.runs).remove(id);
    }

    /// Numbers of the run, or of the last one; in the order of the data.
    pub fn metrics(&self, id: &str) -> Vec<NodeReport> {
        let runs = lock(&self.runs);
        runs.get(id).map(|r| r.nodes.iter().map(|n| n.report()).collect()).unwrap_or_default()
    }

    /// `None` when the rule never started.
    pub fn topo(&self, id: &str) -> Option<Topo> {
        lock(&self.runs).get(id).map(|r| r.topo.clone())
    }

    /// Names of the result's columns, as far as they are known.
    pub fn schema(&self, id: &str) -> Option<Vec<String>> {
        lock(&self.runs).get(id).map(|r| r.schema.clone())
    }
}
