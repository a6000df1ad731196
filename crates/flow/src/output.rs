//! The end of a rule: result rows become payloads, encoded once for all sinks that want the same.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use rekuiper_functions::Cx;
use rekuiper_ops::{Chunk, NodeStats, Output, Projection};
use rekuiper_rt::Clock;
use rekuiper_value::batch::Ack;
use rekuiper_value::{Error, Object, Result};

use crate::deliver::Port;
use crate::shape::Shaper;
use crate::sink::SinkHandle;

mod columns;
mod json;
mod ready;
mod rows;

use columns::Results;
use json::JsonWriter;
pub use ready::Ready;
use rows::{Hits, emissions};

/// See the module's doc.
pub struct RuleOutput {
    lanes: Box<[Lane]>,
    /// Counters of the projection, where a result that cannot be written counts as an exception.
    pub project: Arc<NodeStats>,
    pub send_error: bool,
    /// Results are timed by their rows instead of the clock.
    pub event_time: bool,
    /// Held for what is being processed.
    pub ack: Option<Ack>,
}

/// Sinks that get the same payloads.
pub struct Lane {
    pub kind: LaneKind,
    pub ports: Vec<Port>,
    pub ready: Ready,
}

pub enum LaneKind {
    /// JSON of whole rows, straight from the columns.
    Json { single: bool, omit_if_empty: bool },
    /// Columns of the results, for sinks inside this process.
    Columns,
    /// Everything else: rows as objects, shaped by the sink's properties.
    Shaped(Box<Shaper>),
}

impl RuleOutput {
    pub fn new(
        lanes: Vec<Lane>,
        project: Arc<NodeStats>,
        send_error: bool,
        event_time: bool,
    ) -> Self {
        RuleOutput { lanes: lanes.into(), project, send_error, event_time, ack: None }
    }

    pub fn has_pending(&self) -> bool {
        self.lanes.iter().any(|l| !l.ready.is_empty())
    }

    /// The first result that waits to be delivered, as text: for traces.
    pub fn first_result(&self) -> Option<String> {
        let ready = self.lanes.iter().map(|l| &l.ready).find(|r| !r.is_empty())?;
        if let Some(end) = ready.ends.first() {
            let bytes = ready.buf.get(..*end as usize).unwrap_or_default();
            return Some(String::from_utf8_lossy(bytes).into_owned());
        }
        let value = rekuiper_value::Value::object(ready.first_row()?.clone());
        Some(rekuiper_value::json::to_serde(&value).to_string())
    }

    /// Puts what is ready into the queues of the sinks, waiting where they are full.
    pub async fn deliver(&mut self, clock: &Clock) {
        for lane in &mut self.lanes {
            if lane.ready.is_empty() {
                continue;
            }
            let ready = std::mem::take(&mut lane.ready);
            let last = lane.ports.len().saturating_sub(1);
            let mut ready = Some(ready);
            for (at, port) in lane.ports.iter_mut().enumerate() {
                let own = match &ready {
                    Some(r) if at < last => r.copy(),
                    _ => match ready.take() {
                        Some(r) => r,
                        None => break,
                    },
                };
                port.deliver(own.into_batch(self.ack.clone()), clock).await;
            }
        }
    }

    /// Payloads that are held for a batch (batchSize, lingerInterval) and are due.
    pub fn tick(&mut self, now_ms: i64) {
        for lane in &mut self.lanes {
            if let LaneKind::Shaped(shaper) = &mut lane.kind {
                shaper.tick(now_ms, &mut lane.ready);
            }
        }
    }

    pub fn deadline(&self) -> Option<i64> {
        let held = |lane: &Lane| match &lane.kind {
            LaneKind::Shaped(shaper) => shaper.deadline(),
            LaneKind::Json { .. } | LaneKind::Columns => None,
        };
        self.lanes.iter().filter_map(held).min()
    }

    /// At the end: everything that is held.
    pub fn flush_held(&mut self, now_ms: i64) {
        for lane in &mut self.lanes {
            if let LaneKind::Shaped(shaper) = &mut lane.kind {
                shaper.flush(now_ms, &mut lane.ready);
            }
        }
    }

    pub fn take_sinks(&mut self) -> Vec<SinkHandle> {
        let lanes = std::mem::take(&mut self.lanes).into_iter();
        lanes.flat_map(|l| l.ports).map(Port::into_handle).collect()
    }
}

impl Output for RuleOutput {
    fn emit(&mut self, chunk: &mut Chunk<'_>, projection: &Projection, cx: &mut Cx<'_>) {
        let mut objects: Option<Vec<Result<Arc<Vec<Object>>>>> = None;
        let hits = Hits { before: cx.row, event_time: self.event_time };
        let failed_before = self.project.exceptions.load(Relaxed);
        for (at, lane) in self.lanes.iter_mut().enumerate() {
            cx.row = hits.before;
            // a row that fails does so for every lane; it counts once
            let counted = (at == 0).then_some(&*self.project);
            let taken;
            match &mut lane.kind {
                LaneKind::Json { single, omit_if_empty } => {
                    let before = lane.ready.ends.len();
                    lane.ready.begin();
                    let mut writer = JsonWriter {
                        ready: &mut lane.ready,
                        single: *single,
                        omit_if_empty: *omit_if_empty,
                        counted,
                        hits,
                        send_error: self.send_error,
                        told: 0,
                        errors: Vec::new(),
                    };
                    writer.write(chunk, projection, cx);
                    let (errors, told) = (writer.errors, writer.told);
                    taken = lane.ready.ends.len() - before - told;
                    if self.send_error {
                        errors.iter().for_each(|error| lane.ready.text(&error.0));
                    }
                }
                LaneKind::Columns => {
                    let sent = self.send_error;
                    let made = Results::of(chunk, projection, cx, counted, hits, sent);
                    taken = made.rows;
                    if !made.columns.is_empty() {
                        lane.ready.more().columns.extend(made.columns);
                    }
                }
                LaneKind::Shaped(shaper) => {
                    let rows = objects
                        .get_or_insert_with(|| emissions(chunk, projection, cx, counted, hits));
                    taken = rows.iter().filter(|emission| emission.is_ok()).count();
                    for emission in rows.iter() {
                        match emission {
                            Ok(rows) => shaper.push(rows, cx.now_ms, &mut lane.ready),
                            Err(e) if self.send_error => shaper.push_error(e, &mut lane.ready),
                            Err(_) => {}
                        }
                    }
                }
            }
            for port in &lane.ports {
                port.stats().transform.add_in(taken as u64, cx.now_ms);
            }
        }
        hits.after(chunk, cx);
        let out = chunk.sel.len() as u64;
        let lost = self.project.exceptions.load(Relaxed) - failed_before;
        self.project.add_out(out.saturating_sub(lost));
    }

    fn error(&mut self, error: &Error) {
        for lane in &mut self.lanes {
            match &mut lane.kind {
                LaneKind::Json { .. } => lane.ready.text(&error.0),
                LaneKind::Columns => lane.ready.more().columns.push(columns::of_error(error)),
                LaneKind::Shaped(shaper) => shaper.push_error(error, &mut lane.ready),
            }
        }
    }
}
