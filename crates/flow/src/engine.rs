//! The engine: starts and stops rules, shares streams between them, answers what they count.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

use jiff::tz::TimeZone;
use rekuiper_connect::{Lookup, Services, SourceCx};
use rekuiper_rt::{Clock, task};
use rekuiper_value::batch::BATCH_ROWS_MAX;
use rekuiper_value::{Object, Str, Value};

use crate::FlowError;
use crate::build::{self, Built, MadeStream};
use crate::host::HostServices;
use crate::intern;
use crate::rule::{Ended, RuleCell};
use crate::spec::{FlowCatalog, RuleSpec};
use crate::state::{self, StateStore};
use crate::stream::{StreamCell, StreamStart};
use crate::timers::Timers;
use crate::trace::TraceStore;

mod report;
mod run;
mod tracing;

use run::{Cells, Checkpoint, Ending, Run, Seat, Seating};
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
    runs: Mutex<HashMap<Arc<str>, Box<Run>>>,
    /// Lookup tables by name; open since their creation.
    lookups: Mutex<HashMap<String, Arc<dyn Lookup>>>,
    me: Weak<Engine>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// Where the sources that only this rule reads are.
fn places(seats: &[Seat]) -> Object {
    let own = seats.iter().filter(|seat| seat.shared.is_none());
    let place = |seat: &Seat| Some((Str::from(&*seat.stream.name), seat.stream.position()?.get()));
    own.filter_map(place).collect()
}

async fn end(cells: Cells) {
    for cell in cells {
        cell.stop().await;
    }
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
        let id: Arc<str> = spec.id.as_str().into();
        let number = lock(&self.runs).get(&*id).map_or(1, |r| r.number + 1);
        let endings = Ending::split(drafts.len(), on_end);
        let mut seating = Seating::default();
        let mark = state::mark(spec);
        let durable = self.config.states.as_ref().filter(|_| spec.plan.qos > 0);
        let saved = durable.and_then(|store| store.get(&spec.id));
        let mut saved = saved.map(|b| state::unpack(mark, &b)).unwrap_or_default().into_iter();
        let now_ms = self.config.clock.now_ms();
        let checkpoint = durable.map(|_| Checkpoint::new(mark, spec.checkpoint_ms, now_ms));
        for (draft, ending) in drafts.into_iter().zip(endings) {
            let (engine, rule) = (self.me.clone(), id.clone());
            let ended = Box::new(move |end: Ended| {
                if let Some(on_end) = ending.take(&end) {
                    if let Some(engine) = engine.upgrade() {
                        engine.release(&rule, number);
                    }
                    on_end(end);
                }
            });
            let mut built = draft.finish(id.clone(), spec, &self.config, &tables, ended);
            if let Some(state) = saved.next() {
                built.parts.chain.load(&state);
            }
            self.seat(built, &mut seating);
        }
        let places = saved.next();
        let (run, starts) = seating.run(number, checkpoint);
        lock(&self.runs).insert(id, Box::new(run));
        for (stream, start, made) in starts {
            let cx = SourceCx {
                services: self.config.services.clone(),
                clock: self.config.clock.clone(),
                status: stream.status.clone(),
                rule: made.shared.as_deref().unwrap_or(&spec.id).into(),
                stream: stream.name.clone(),
                offset: places.as_ref().and_then(|p| p.as_object()?.get(&*stream.name)).cloned(),
            };
            stream.start(start, made.source, made.decoder, cx);
        }
        Ok(())
    }

    /// Makes a chain's rule cell and its places at its streams.
    fn seat(&self, built: Built, seating: &mut Seating) {
        let Built { parts, streams, nodes, topo, schema, graph } = built;
        let cell = RuleCell::new(parts, self.timers.clone(), self.config.clock.clone());
        for (source, made) in streams.into_iter().enumerate() {
            let Some(made) = made else { continue };
            let (stream, start) = self.stream(&made);
            let map = stream.columns(&made.fields);
            let id = stream.subscribe(cell.clone(), source, map);
            seating.add_nodes(build::stream_nodes(&stream, source, graph));
            let shared = made.shared.as_deref().map(intern::name);
            seating.seats.push(Seat { stream: stream.clone(), id, shared });
            if let Some(start) = start {
                seating.starts.push((stream, start, made));
            }
        }
        seating.add_nodes(nodes);
        seating.topo.merge(topo);
        seating.schema = intern::list(&schema);
        seating.cells.push(cell);
    }

    /// The shared stream of that key, or a new one with its start.
    fn stream(&self, made: &MadeStream) -> (Arc<StreamCell>, Option<StreamStart>) {
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

    fn leave(&self, seats: Box<[Seat]>) {
        for seat in seats {
            let mut shared = lock(&self.shared);
            let left = seat.stream.unsubscribe(seat.id);
            if left == 0 {
                if let Some(key) = &seat.shared {
                    shared.remove(&**key);
                }
                drop(shared);
                seat.stream.stop();
            }
        }
    }

    /// Stops a rule; what it already gave is written first, within bounds of time.
    pub async fn stop(&self, id: &str) {
        if let Some(cells) = self.halt(id).await {
            end(cells).await;
        }
    }

    /// The same, but waits no longer than that: what the sinks still have to write they go on
    /// writing, within the same bounds as ever.
    pub async fn stop_within(&self, id: &str, wait: Duration) {
        let Some(cells) = self.halt(id).await else { return };
        let (done, over) = tokio::sync::oneshot::channel();
        let ending = async move {
            end(cells).await;
            let _ = done.send(());
        };
        task::spawn("end of a rule", ending).detach();
        let _ = tokio::time::timeout(wait, over).await;
    }

    /// Lets the streams of a run go and saves its state.
    async fn halt(&self, id: &str) -> Option<Cells> {
        let (live, checkpoint) = {
            let mut runs = lock(&self.runs);
            let run = runs.get_mut(id)?;
            (run.live.take()?, run.checkpoint)
        };
        let places = places(&live.seats);
        self.leave(live.seats);
        if let Some(checkpoint) = checkpoint {
            self.save(id, checkpoint.mark, &live.cells, places).await;
        }
        Some(live.cells)
    }

    async fn save(&self, id: &str, mark: u64, cells: &[Arc<RuleCell>], places: Object) {
        let Some(store) = &self.config.states else { return };
        let mut chains = Vec::with_capacity(cells.len());
        for cell in cells {
            chains.push(cell.save().await);
        }
        if !places.is_empty() {
            chains.push(Value::object(places));
        }
        store.put(id, state::pack(mark, chains));
    }

    /// Saves the states that are due.
    pub(crate) async fn checkpoint(&self) {
        let now = self.config.clock.now_ms();
        let due: Vec<(Arc<str>, u64, Cells, Object)> = lock(&self.runs)
            .iter_mut()
            .filter_map(|(id, run)| {
                let live = run.live.as_ref()?;
                let checkpoint = run.checkpoint.as_mut().filter(|c| c.next_ms <= now)?;
                checkpoint.next_ms = now + checkpoint.every_ms;
                Some((id.clone(), checkpoint.mark, live.cells.clone(), places(&live.seats)))
            })
            .collect();
        for (id, mark, cells, places) in due {
            self.save(&id, mark, &cells, places).await;
        }
    }

    /// Sets the position of a stream's source of a running rule.
    pub fn rewind(&self, id: &str, stream: &str, to: &Object) -> Result<(), FlowError> {
        let found = {
            let runs = lock(&self.runs);
            let live = runs.get(id).and_then(|run| run.live.as_ref());
            let seats = live.map(|live| &*live.seats).unwrap_or_default();
            seats.iter().find(|seat| &*seat.stream.name == stream).map(|seat| seat.stream.clone())
        };
        let cell = found.ok_or_else(|| {
            FlowError::NotFound(format!("rule {id} does not run on a stream {stream}"))
        })?;
        let position = cell.position().ok_or_else(|| {
            FlowError::Rule(format!(
                "stream {stream} cannot be rewound: its source keeps no position"
            ))
        })?;
        position.reset(to).map_err(|e| FlowError::Rule(e.text))
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
        let ids: Vec<Arc<str>> = lock(&self.runs).keys().cloned().collect();
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
}
