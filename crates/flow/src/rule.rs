//! A running rule: its operators and where their results go. Streams run it on their batches, the
//! timer when a window is due; a lock keeps them apart.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex as StdMutex, Weak};

use jiff::tz::TimeZone;
use rekuiper_expr::Frame;
use rekuiper_functions::{Cx, RowTimes};
use rekuiper_ops::chunk::Origin;
use rekuiper_ops::{Chain, Chunk, Emission, OpCx};
use rekuiper_rt::Clock;
use rekuiper_value::{Batch, Column, Error};
use tokio::sync::Mutex;

use crate::host::HostServices;
use crate::output::RuleOutput;
use crate::timers::Timers;

/// What a rule shares with whoever runs it.
pub struct RuleCell {
    pub id: Arc<str>,
    state: Mutex<RuleState>,
    timers: Arc<Timers>,
    clock: Clock,
    /// When the timer will wake it; `i64::MAX`: not at all.
    wake_at: AtomicI64,
    /// Sources that have not ended.
    open_sources: AtomicUsize,
    stopped: AtomicBool,
    on_end: StdMutex<Option<Box<dyn FnOnce(Ended) + Send>>>,
    me: Weak<RuleCell>,
}

/// How a run ended by itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ended {
    Done,
    Failed(String),
}

/// Parts of a rule.
pub struct RuleParts {
    pub id: Arc<str>,
    pub chain: Chain,
    pub output: RuleOutput,
    /// First column and number of columns of each source.
    pub sources: Vec<(usize, usize)>,
    pub source_cols: usize,
    pub send_error: bool,
    pub zone: TimeZone,
    pub host: Arc<HostServices>,
    /// Streams that push; lookup tables do not.
    pub pushing: usize,
    pub on_end: Box<dyn FnOnce(Ended) + Send>,
}

struct RuleState {
    chain: Chain,
    output: RuleOutput,
    sources: Vec<(usize, usize)>,
    source_cols: usize,
    send_error: bool,
    zone: TimeZone,
    host: Arc<HostServices>,
    started_ms: i64,
    /// Scratch: the selected rows.
    sel: Vec<u32>,
    missing: Column,
    /// Counters that outlive a row (last_hit_count and the like).
    times: RowTimes,
}

impl RuleCell {
    pub fn new(parts: RuleParts, timers: Arc<Timers>, clock: Clock) -> Arc<Self> {
        Arc::new_cyclic(|me| RuleCell {
            id: parts.id,
            state: Mutex::new(RuleState {
                chain: parts.chain,
                output: parts.output,
                sources: parts.sources,
                source_cols: parts.source_cols,
                send_error: parts.send_error,
                zone: parts.zone,
                host: parts.host,
                started_ms: clock.now_ms(),
                sel: Vec::new(),
                missing: Column::missing(0),
                times: RowTimes::default(),
            }),
            timers,
            clock,
            wake_at: AtomicI64::new(i64::MAX),
            open_sources: AtomicUsize::new(parts.pushing),
            stopped: AtomicBool::new(false),
            on_end: StdMutex::new(Some(parts.on_end)),
            me: me.clone(),
        })
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
        for (_, error) in &batch.errors {
            state.error(error, &self.id, now);
        }
        if batch.rows > 0 {
            state.process(source, map, batch, &self.id, now);
        }
        self.after(&mut state).await;
    }

    /// An error of a source: seen by sinks where the rule sends errors.
    pub async fn on_error(&self, error: &Error) {
        let mut state = self.state.lock().await;
        state.error(error, &self.id, self.clock.now_ms());
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
        state.tick(&self.id, now);
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
        let sinks = self.take_sinks().await;
        for sink in sinks {
            sink.finish().await;
        }
        let on_end = self.on_end.lock().unwrap_or_else(|e| e.into_inner()).take();
        if let Some(on_end) = on_end {
            on_end(ended);
        }
    }

    async fn take_sinks(&self) -> Vec<crate::sink::SinkHandle> {
        let mut state = self.state.lock().await;
        let now = self.clock.now_ms();
        state.output.flush_held(now);
        state.output.deliver(&self.clock).await;
        state.output.take_sinks()
    }

    /// Stops the rule from outside: what it already gave is written, within bounds of time.
    pub async fn stop(&self) {
        self.stopped.store(true, Relaxed);
        self.on_end.lock().unwrap_or_else(|e| e.into_inner()).take();
        for sink in self.take_sinks().await {
            sink.finish().await;
        }
    }
}

impl RuleState {
    fn process(&mut self, source: usize, map: &[u16], batch: &Batch, id: &str, now: i64) {
        let Some(&(first, fields)) = self.sources.get(source) else { return };
        let single = self.sources.len() == 1;
        let before = if single { 0 } else { self.source_cols };
        let mut frame = Frame::new(std::iter::repeat_n(&self.missing, before), batch.rows);
        for (i, &col) in map.iter().enumerate().take(fields) {
            let column = batch.cols.get(usize::from(col)).unwrap_or(&self.missing);
            if single { frame.push(column) } else { frame.replace((first + i) as u16, column) }
        }
        let mut sel = std::mem::take(&mut self.sel);
        sel.clear();
        sel.extend(0..batch.rows as u32);
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
        self.sel = sel;
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

    fn error(&mut self, error: &Error, _id: &str, _now: i64) {
        if self.send_error {
            rekuiper_ops::Output::error(&mut self.output, error);
        }
    }
}
