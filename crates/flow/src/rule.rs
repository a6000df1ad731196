//! A running rule: its operators and where their results go. Streams run it on their batches, the
//! timer when a window is due; a lock keeps them apart.

use std::ops::Range;
use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, LazyLock, Mutex as StdMutex, Weak};

use jiff::tz::TimeZone;
use rekuiper_expr::Frame;
use rekuiper_functions::{Cx, RowTimes};
use rekuiper_ops::chunk::Origin;
use rekuiper_ops::{Chain, Chunk, Emission, OpCx};
use rekuiper_rt::{Clock, clock::CpuWatch, task};
use rekuiper_value::{Batch, Column, Error};
use tokio::sync::Mutex;

use crate::gate::{Bounds, Gate};
use crate::host::HostServices;
use crate::output::RuleOutput;
use crate::sink::SinkHandle;
use crate::timers::Timers;
use crate::trace::Tap;

/// Stands where a rule has no column.
static MISSING: LazyLock<Column> = LazyLock::new(|| Column::missing(0));

thread_local! {
    /// Scratch for the selected rows, one for all rules of a thread.
    static SELECTED: Cell<Vec<u32>> = const { Cell::new(Vec::new()) };
}

/// What a rule shares with whoever runs it.
pub struct RuleCell {
    pub id: Arc<str>,
    gate: Option<Gate>,
    state: Mutex<RuleState>,
    timers: Arc<Timers>,
    clock: Clock,
    /// When the timer will wake it; `i64::MAX`: not at all.
    wake_at: AtomicI64,
    /// Sources that have not ended.
    open_sources: AtomicUsize,
    stopped: AtomicBool,
    /// Nanoseconds of CPU; `None`: not measured.
    cpu_ns: Option<AtomicU64>,
    /// Whether `tap` is to be asked.
    traced: AtomicBool,
    tap: StdMutex<Option<Arc<Tap>>>,
    on_end: StdMutex<Option<OnEnd>>,
    me: Weak<RuleCell>,
}

/// How a run ended by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    Done,
    Failed(String),
}

/// Called once when a run ends by itself.
pub type OnEnd = Box<dyn FnOnce(Ended) + Send>;

/// Parts of a rule.
pub struct RuleParts {
    pub id: Arc<str>,
    pub chain: Chain,
    pub output: RuleOutput,
    /// First column and number of columns of each source.
    pub sources: Box<[(usize, usize)]>,
    pub source_cols: usize,
    pub send_error: bool,
    pub zone: TimeZone,
    pub host: Arc<HostServices>,
    /// Streams that push; lookup tables do not.
    pub pushing: usize,
    pub measure_cpu: bool,
    pub on_end: OnEnd,
}

struct RuleState {
    chain: Chain,
    output: RuleOutput,
    sources: Box<[(usize, usize)]>,
    source_cols: usize,
    send_error: bool,
    zone: TimeZone,
    host: Arc<HostServices>,
    started_ms: i64,
    /// Counters that outlive a row (last_hit_count and the like).
    times: RowTimes,
}

impl RuleCell {
    pub fn new(parts: RuleParts, timers: Arc<Timers>, clock: Clock) -> Arc<Self> {
        Arc::new_cyclic(|me| RuleCell {
            id: parts.id,
            gate: Gate::of(&parts.chain),
            state: Mutex::new(RuleState {
                chain: parts.chain,
                output: parts.output,
                sources: parts.sources,
                source_cols: parts.source_cols,
                send_error: parts.send_error,
                zone: parts.zone,
                host: parts.host,
                started_ms: clock.now_ms(),
                times: RowTimes::default(),
            }),
            timers,
            clock,
            wake_at: AtomicI64::new(i64::MAX),
            open_sources: AtomicUsize::new(parts.pushing),
            stopped: AtomicBool::new(false),
            cpu_ns: parts.measure_cpu.then(AtomicU64::default),
            traced: AtomicBool::new(false),
            tap: StdMutex::default(),
            on_end: StdMutex::new(Some(parts.on_end)),
            me: me.clone(),
        })
    }

    /// Whether the batch cannot have any effect on the rule; then it has been counted.
    pub fn passes_by(
        &self,
        map: &[u16],
        batch: &Batch,
        bounds: &mut Bounds,
        now_ms: i64,
    ) -> bool {
        let Some(gate) = &self.gate else { return false };
        let runs = !self.stopped.load(Relaxed) && !self.traced.load(Relaxed);
        runs && gate.shuts(map, batch, bounds, now_ms)
    }

    /// Runs the rule on a batch of its source number `source`; `map[i]` is the batch's column of
    /// the source's field `i`.
    pub async fn on_batch(&self, source: usize, map: &[u16], batch: &Batch) {
        if self.stopped.load(Relaxed) {
            return;
        }
        let mut state = self.state.lock().await;
        state.output.ack = batch.ack.clone();
        let now = self.clock.now_ms();
        if self.traced.load(Relaxed) {
            for (_, error) in &batch.errors {
                state.error(error);
            }
            return self.traced_batch(&mut state, source, map, batch).await;
        }
        if state.send_error {
            self.measured(|| state.process_with_errors(source, map, batch, &self.id, now));
        } else if batch.rows > 0 {
            self.measured(|| state.process(source, map, batch, 0..batch.rows, &self.id, now));
        }
        self.after(&mut state).await;
    }

    /// The same row by row, with a trace of each that is to have one.
    async fn traced_batch(
        &self,
        state: &mut RuleState,
        source: usize,
        map: &[u16],
        batch: &Batch,
    ) {
        let tap = self.tap.lock().unwrap_or_else(|e| e.into_inner()).clone();
        for row in 0..batch.rows {
            let host = state.host.clone();
            let begun = tap.as_ref().and_then(|t| t.begin(source, map, batch, row, &host));
            let start = self.clock.now_us();
            state.output.ack = batch.ack.clone();
            let now = self.clock.now_ms();
            self.measured(|| state.process(source, map, batch, row..row + 1, &self.id, now));
            let result = begun.as_ref().and_then(|_| state.output.first_result());
            self.after(state).await;
            if let Some(begun) = begun {
                begun.end(result, start, self.clock.now_us(), &host);
            }
        }
        self.after(state).await;
    }

    /// Traces rows from now on, or no more.
    pub fn set_tap(&self, tap: Option<Arc<Tap>>) {
        self.traced.store(tap.is_some(), Relaxed);
        *self.tap.lock().unwrap_or_else(|e| e.into_inner()) = tap;
    }

    /// CPU time so far in nanoseconds, where it is measured.
    pub fn cpu_ns(&self) -> Option<u64> {
        self.cpu_ns.as_ref().map(|ns| ns.load(Relaxed))
    }

    fn measured(&self, work: impl FnOnce()) {
        let Some(total) = &self.cpu_ns else { return work() };
        let watch = CpuWatch::start();
        work();
        total.fetch_add(watch.elapsed_ns(), Relaxed);
    }

    /// An error of a source: seen by sinks where the rule sends errors.
    pub async fn on_error(&self, error: &Error) {
        let mut state = self.state.lock().await;
        state.error(error);
        self.after(&mut state).await;
    }

    /// The timer's call.
    pub async fn on_time(&self) {
        if self.stopped.load(Relaxed) {
            return;
        }
        let mut state = self.state.lock().await;
        self.wake_at.store(i64::MAX, Relaxed);
        let now = self.clock.now_ms();
        state.output.ack = None;
        self.measured(|| state.tick(&self.id, now));
        self.after(&mut state).await;
    }

    /// Hands results to the sinks and asks for the next wake-up.
    async fn after(&self, state: &mut RuleState) {
        if state.output.has_pending() {
            state.output.deliver(&self.clock).await;
        }
        state.output.ack = None;
        let sooner = [state.chain.deadline(), state.output.deadline()].into_iter().flatten().min();
        if let Some(at) = sooner
            && at < self.wake_at.load(Relaxed)
        {
            self.wake_at.store(at, Relaxed);
            self.timers.wake(at, self.me.clone());
        }
    }

    /// A source has come to its end. The rule is done when all have.
    pub async fn on_eof(&self, ended: Ended) {
        if let Ended::Failed(_) = ended {
            return self.end(ended).await;
        }
        if self.open_sources.fetch_sub(1, Relaxed) == 1 {
            self.end(ended).await;
        }
    }

    async fn end(&self, ended: Ended) {
        if self.stopped.swap(true, Relaxed) {
            return;
        }
        self.finish_sinks().await;
        let on_end = self.on_end.lock().unwrap_or_else(|e| e.into_inner()).take();
        if let Some(on_end) = on_end {
            on_end(ended);
        }
    }

    /// All at once: one that hangs must not take the others their time.
    async fn finish_sinks(&self) {
        let finish = |sink: SinkHandle| task::spawn("end of a sink", sink.finish());
        let ends: Vec<_> = self.take_sinks().await.into_iter().map(finish).collect();
        for end in ends {
            end.join().await;
        }
    }

    async fn take_sinks(&self) -> Vec<SinkHandle> {
        let mut state = self.state.lock().await;
        let now = self.clock.now_ms();
        state.output.flush_held(now);
        state.output.deliver(&self.clock).await;
        state.output.take_sinks()
    }

    /// Rows of scan tables that it holds, by the table's name.
    pub async fn tables(&self) -> Vec<(rekuiper_value::Str, Vec<rekuiper_value::Value>)> {
        self.state.lock().await.chain.tables()
    }

    /// The state of its operators.
    pub async fn save(&self) -> rekuiper_value::Value {
        self.state.lock().await.chain.save()
    }

    /// Stops the rule from outside: what it already gave is written, within bounds of time.
    pub async fn stop(&self) {
        self.stopped.store(true, Relaxed);
        self.on_end.lock().unwrap_or_else(|e| e.into_inner()).take();
        self.finish_sinks().await;
    }
}

impl RuleState {
    /// For rules that send errors: they come out where they came up among the results, however
    /// many rows come together. Operators that do not see to that get row by row.
    fn process_with_errors(
        &mut self,
        source: usize,
        map: &[u16],
        batch: &Batch,
        id: &str,
        now: i64,
    ) {
        // each with the number of rows before it
        let mut errors = batch.errors.iter().peekable();
        let most = if self.chain.orders_errors() { batch.rows } else { 1 };
        let mut row = 0;
        while row < batch.rows {
            while let Some((_, error)) = errors.next_if(|(before, _)| *before as usize <= row) {
                self.error(error);
            }
            let error_at = errors.peek().map_or(batch.rows, |(before, _)| *before as usize);
            let end = error_at.min(batch.rows).min(row + most);
            self.process(source, map, batch, row..end, id, now);
            row = end;
        }
        errors.for_each(|(_, error)| self.error(error));
    }

    fn process(
        &mut self,
        source: usize,
        map: &[u16],
        batch: &Batch,
        rows: Range<usize>,
        id: &str,
        now: i64,
    ) {
        let Some(&(first, fields)) = self.sources.get(source) else { return };
        let single = self.sources.len() == 1;
        let before = if single { 0 } else { self.source_cols };
        let missing = &*MISSING;
        let mut frame = Frame::new(std::iter::repeat_n(missing, before), batch.rows);
        for (i, &col) in map.iter().enumerate().take(fields) {
            let column = batch.cols.get(usize::from(col)).unwrap_or(missing);
            if single { frame.push(column) } else { frame.replace((first + i) as u16, column) }
        }
        let mut sel = SELECTED.take();
        sel.clear();
        sel.extend(rows.start as u32..rows.end as u32);
        let chunk = Chunk {
            frame,
            stamps: &batch.stamps,
            sel: &mut sel,
            emission: Emission::Rows,
            source: Origin::One(source),
        };
        let mut cx = Cx {
            now_ms: now,
            rule_id: id,
            rule_start: self.started_ms,
            zone: &self.zone,
            row: self.times,
            host: &*self.host,
        };
        let mut ocx =
            OpCx { cx: &mut cx, out: &mut self.output, send_error: self.send_error };
        self.chain.push(chunk, &mut ocx);
        self.times = cx.row;
        SELECTED.set(sel);
    }

    fn tick(&mut self, id: &str, now: i64) {
        let mut cx = Cx {
            now_ms: now,
            rule_id: id,
            rule_start: self.started_ms,
            zone: &self.zone,
            row: self.times,
            host: &*self.host,
        };
        let mut ocx =
            OpCx { cx: &mut cx, out: &mut self.output, send_error: self.send_error };
        self.chain.tick(&mut ocx);
        self.times = cx.row;
        self.output.tick(now);
    }

    fn error(&mut self, error: &Error) {
        if self.send_error {
            rekuiper_ops::Output::error(&mut self.output, error);
        }
    }
}
