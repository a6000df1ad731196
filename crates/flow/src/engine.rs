//! The engine: starts and stops rules, shares streams between them, answers what they count.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};

use jiff::tz::TimeZone;
use rekuiper_connect::{Lookup, Services, SourceCx};
use rekuiper_rt::{Clock, task};
use rekuiper_value::batch::BATCH_ROWS_MAX;
use rekuiper_value::{Str, Value};

use crate::build::{self, Built};
use crate::host::HostServices;
use crate::intern;
use crate::metrics::{NodeReport, Topo};
use crate::rule::{Ended, OnEnd, RuleCell};
use crate::spec::{FlowCatalog, RuleSpec};
use crate::state::{self, StateStore};
use crate::stream::StreamCell;
use crate::timers::Timers;
use crate::trace::{self, Tap, TappedSource, TraceMode, TraceStore};
use crate::FlowError;

pub use crate::rule::Ended as RunEnd;

/// What an engine is made with.
pub struct EngineConfig {
    pub clock: Clock,
    pub services: Arc<Services>,
    /// The server's time zone (basic.timezone).
    pub zone: TimeZone,
    pub host: Arc<HostServices>,
    /// Keeps the states of rules with qos above 0; none: they begin anew at each start.
    pub states: Option<Arc<dyn StateStore>>,
    /// Most rows that rules get at once; tests set it to 1 and 7.
    pub batch_rows: usize,
    /// Windows keep their rows even where aggregates alone would do; tests set it.
    pub force_buffered: bool,
    /// Where traces are kept; `None`: nowhere, then no rule is traced.
    pub traces: Option<Arc<TraceStore>>,
    /// Whether the CPU time of each rule is measured.
    pub measure_cpu: bool,
}

impl EngineConfig {
    pub fn new(clock: Clock, services: Arc<Services>) -> Self {
        EngineConfig {
            clock,
            services,
            zone: TimeZone::UTC,
            host: Arc::default(),
            states: None,
            batch_rows: BATCH_ROWS_MAX,
            force_buffered: false,
            traces: None,
            measure_cpu: false,
        }
    }
}

/// See the module's doc.
pub struct Engine {
    pub config: EngineConfig,
    timers: Arc<Timers>,
    _tasks: [task::Task; 2],
    /// Streams at work that several rules may read, by name (and time kind).
    shared: Mutex<HashMap<String, Arc<StreamCell>>>,
    runs: Mutex<HashMap<String, Box<Run>>>,
    /// Lookup tables by name; open since their creation.
    lookups: Mutex<HashMap<String, Arc<dyn Lookup>>>,
    me: Weak<Engine>,
}

/// A stream that is still to be started, with its source.
type Start = (Arc<StreamCell>, crate::stream::StreamStart, build::MadeStream);

/// A rule ends when all its chains have, or when one fails.
#[derive(Clone)]
struct Ending(Arc<Mutex<(usize, Option<OnEnd>)>>);


impl Ending {
    fn new(chains: usize, on_end: OnEnd) -> Self {
        Ending(Arc::new(Mutex::new((chains, Some(on_end)))))
    }

    /// One chain has ended; gives what is to be called when that was the last.
    fn part(&self, end: &Ended) -> Option<OnEnd> {
        let mut state = lock(&self.0);
        state.0 = state.0.saturating_sub(1);
        let over = state.0 == 0 || matches!(end, Ended::Failed(_));
        if over { state.1.take() } else { None }
    }
}

/// A rule that runs, or ran last.
#[derive(Default)]
struct Run {
    number: u64,
    live: Option<Live>,
    nodes: Vec<crate::metrics::NodeRef>,
    topo: Arc<Topo>,
    /// Output columns; `None` when only rows tell (`*`).
    schema: Arc<[String]>,
    /// Its state is kept.
    checkpoint: Option<Checkpoint>,
}

/// When the state of a rule is saved next, and of which statement it is.
#[derive(Clone, Copy)]
struct Checkpoint {
    mark: u64,
    every_ms: i64,
    next_ms: i64,
}

/// States are saved no more often than this.
const CHECKPOINT_MS_MIN: i64 = 1_000;

#[derive(Default)]
struct Live {
    cells: Vec<Arc<RuleCell>>,
    seats: Vec<Seat>,
}

impl Run {
    /// Shares what other rules have alike, and keeps no more room than is used.
    fn compact(&mut self) {
        self.topo = intern::topo(std::mem::take(Arc::make_mut(&mut self.topo)));
        self.nodes.iter_mut().for_each(|node| node.name = intern::name(&node.name));
        self.nodes.shrink_to_fit();
    }

    /// A node that several chains of a graph share is shown once.
    fn add_nodes(&mut self, nodes: Vec<crate::metrics::NodeRef>) {
        for node in nodes {
            if !self.nodes.iter().any(|n| n.name == node.name) {
                self.nodes.push(node);
            }
        }
    }
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
            _tasks: [timer, task::spawn("exceptions", crate::watch::run(me.clone()))],
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
        let drafts = build::build(spec, catalog, &self.config)?;
        Ok(drafts.into_iter().next().map(|d| d.sources).unwrap_or_default())
    }

    /// The plan as text, one node a line.
    pub fn explain(
        &self,
        spec: &RuleSpec,
        catalog: &dyn FlowCatalog,
    ) -> Result<String, FlowError> {
        if spec.graph.is_some() {
            return Err(FlowError::Rule("a graph rule has no statement to explain".into()));
        }
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
        let drafts = build::build(spec, catalog, &self.config)?;
        if let Some(name) = drafts.iter().find_map(|draft| draft.closed_table(&tables)) {
            return Err(FlowError::NotFound(format!("lookup table {name} is not found: not open")));
        }
        let number = lock(&self.runs).get(&spec.id).map_or(1, |r| r.number + 1);
        let ending = Ending::new(drafts.len(), on_end);
        let mut run = Run { number, ..Run::default() };
        let mut live = Live::default();
        let mut starts = Vec::new();
        let mark = state::mark(spec);
        let durable = self.config.states.as_ref().filter(|_| spec.plan.qos > 0);
        let saved = durable.and_then(|store| store.get(&spec.id));
        let mut saved = saved.map(|b| state::unpack(mark, &b)).unwrap_or_default().into_iter();
        if durable.is_some() {
            let every_ms = spec.checkpoint_ms.max(CHECKPOINT_MS_MIN);
            let next_ms = self.config.clock.now_ms() + every_ms;
            run.checkpoint = Some(Checkpoint { mark, every_ms, next_ms });
        }
        for draft in drafts {
            let engine = self.me.clone();
            let (id, ending) = (spec.id.clone(), ending.clone());
            let ended = Box::new(move |end: Ended| {
                if let Some(on_end) = ending.part(&end) {
                    if let Some(engine) = engine.upgrade() {
                        engine.release(&id, number);
                    }
                    on_end(end);
                }
            });
            let mut built = draft.finish(spec, &self.config, &tables, ended);
            if let Some(state) = saved.next() {
                built.parts.chain.load(&state);
            }
            self.seat(built, &mut run, &mut live, &mut starts);
        }
        run.compact();
        run.live = Some(live);
        lock(&self.runs).insert(spec.id.clone(), Box::new(run));
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

    /// Makes a chain's rule cell and its places at its streams.
    fn seat(&self, built: Built, run: &mut Run, live: &mut Live, starts: &mut Vec<Start>) {
        let Built { parts, streams, nodes, topo, schema, graph } = built;
        let cell = RuleCell::new(parts, self.timers.clone(), self.config.clock.clone());
        for (source, made) in streams.into_iter().enumerate() {
            let Some(made) = made else { continue };
            let (stream, start) = self.stream(&made);
            let map = stream.columns(&made.fields);
            let id = stream.subscribe(cell.clone(), source, map);
            run.add_nodes(build::stream_nodes(&stream, source, graph));
            live.seats.push(Seat { stream: stream.clone(), id, shared: made.shared.clone() });
            if let Some(start) = start {
                starts.push((stream, start, made));
            }
        }
        run.add_nodes(nodes);
        Arc::make_mut(&mut run.topo).merge(topo);
        run.schema = intern::list(&schema);
        live.cells.push(cell);
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
            self.leave(live.seats);
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
        let (live, checkpoint) = {
            let mut runs = lock(&self.runs);
            let Some(run) = runs.get_mut(id) else { return };
            (run.live.take(), run.checkpoint)
        };
        let Some(live) = live else { return };
        self.leave(live.seats);
        if let Some(checkpoint) = checkpoint {
            self.save(id, checkpoint.mark, &live.cells).await;
        }
        for cell in live.cells {
            cell.stop().await;
        }
    }

    async fn save(&self, id: &str, mark: u64, cells: &[Arc<RuleCell>]) {
        let Some(store) = &self.config.states else { return };
        let mut chains = Vec::with_capacity(cells.len());
        for cell in cells {
            chains.push(cell.save().await);
        }
        store.put(id, state::pack(mark, chains));
    }

    /// Saves the states that are due.
    pub(crate) async fn checkpoint(&self) {
        let now = self.config.clock.now_ms();
        let due: Vec<(String, u64, Vec<Arc<RuleCell>>)> = lock(&self.runs)
            .iter_mut()
            .filter_map(|(id, run)| {
                let live = run.live.as_ref()?;
                let checkpoint = run.checkpoint.as_mut().filter(|c| c.next_ms <= now)?;
                checkpoint.next_ms = now + checkpoint.every_ms;
                Some((id.clone(), checkpoint.mark, live.cells.clone()))
            })
            .collect();
        for (id, mark, cells) in due {
            self.save(&id, mark, &cells).await;
        }
    }

    /// Calls `visit` with the name of each rule and each of its nodes.
    pub(crate) fn each_node(&self, visit: &mut dyn FnMut(&str, &crate::metrics::NodeRef)) {
        for (rule, run) in lock(&self.runs).iter() {
            run.nodes.iter().for_each(|node| visit(rule, node));
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
        if let Some(store) = &self.config.states {
            store.remove(id);
        }
        lock(&self.runs).remove(id);
    }

    /// Traces rows of a running rule from now on, or no more. False: it does not run.
    pub fn set_trace(&self, id: &str, mode: Option<TraceMode>) -> bool {
        let runs = lock(&self.runs);
        let Some((run, live)) = runs.get(id).and_then(|r| Some((r, r.live.as_ref()?))) else {
            return false;
        };
        let (Some(store), Some(mode)) = (&self.config.traces, mode) else {
            live.cells.iter().for_each(|cell| cell.set_tap(None));
            return true;
        };
        let context = rekuiper_value::Field::Meta(trace::CONTEXT.into());
        let mut sources: Vec<(Arc<RuleCell>, TappedSource)> = Vec::new();
        let mut of_streams = Vec::new();
        for seat in &live.seats {
            let stats = [&seat.stream.source_stats, &seat.stream.decoder_stats];
            let own = |n: &&crate::metrics::NodeRef| stats.iter().any(|s| Arc::ptr_eq(s, &n.stats));
            let nodes: Vec<Arc<str>> =
                run.nodes.iter().filter(own).map(|n| n.name.clone()).collect();
            of_streams.extend(nodes.iter().cloned());
            if let Some(place) = seat.stream.place(seat.id, &context) {
                let (source, fields, context) = (place.source, place.fields, place.context);
                sources.push((place.rule, TappedSource { source, nodes, fields, context }));
            }
        }
        let nodes: Vec<_> =
            run.nodes.iter().filter(|n| !of_streams.contains(&n.name)).cloned().collect();
        for cell in &live.cells {
            let of_cell = |(rule, _): &mut (Arc<RuleCell>, _)| Arc::ptr_eq(rule, cell);
            let own = sources.extract_if(.., of_cell).map(|(_, source)| source).collect();
            cell.set_tap(Some(Arc::new(Tap {
                store: store.clone(),
                mode,
                rule: cell.id.clone(),
                sources: own,
                nodes: nodes.clone(),
            })));
        }
        true
    }

    /// CPU time of every running rule in nanoseconds; `None`: not measured.
    pub fn cpu_ns(&self) -> Option<Vec<(String, u64)>> {
        if !self.config.measure_cpu {
            return None;
        }
        let of = |live: &Live| live.cells.iter().filter_map(|c| c.cpu_ns()).sum();
        let runs = lock(&self.runs);
        let all = runs.iter().filter_map(|(id, run)| Some((id.clone(), of(run.live.as_ref()?))));
        Some(all.collect())
    }

    /// Rows of scan tables that a running rule holds for its joins, by the table's name.
    pub async fn scan_tables(&self, id: &str) -> Vec<(Str, Vec<Value>)> {
        let cells = lock(&self.runs).get(id).and_then(|run| Some(run.live.as_ref()?.cells.clone()));
        let mut all = Vec::new();
        for cell in cells.unwrap_or_default() {
            all.extend(cell.tables().await);
        }
        all
    }

    /// Numbers of the run, or of the last one; in the order of the data.
    pub fn metrics(&self, id: &str) -> Vec<NodeReport> {
        let runs = lock(&self.runs);
        runs.get(id).map(|r| r.nodes.iter().map(|n| n.report()).collect()).unwrap_or_default()
    }

    /// `None` when the rule never started.
    pub fn topo(&self, id: &str) -> Option<Topo> {
        lock(&self.runs).get(id).map(|r| Topo::clone(&r.topo))
    }

    /// Names of the result's columns, as far as they are known.
    pub fn schema(&self, id: &str) -> Option<Vec<String>> {
        lock(&self.runs).get(id).map(|r| r.schema.to_vec())
    }
}
