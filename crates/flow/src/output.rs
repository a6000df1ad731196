//! The end of a rule: result rows become payloads, encoded once for all sinks that want the same.

use std::sync::Arc;

use rekuiper_connect::{SinkBatch, SinkData};
use rekuiper_expr::Env;
use rekuiper_functions::Cx;
use rekuiper_ops::frames::Times;
use rekuiper_ops::{Chunk, Emission, NodeStats, Output, Projection};
use rekuiper_rt::Clock;
use rekuiper_value::batch::Ack;
use rekuiper_value::{Error, Object, Str};

use crate::deliver::Port;
use crate::shape::Shaper;
use crate::sink::SinkHandle;

/// See the module's doc.
pub struct RuleOutput {
    lanes: Vec<Lane>,
    /// Counters of the projection, where a result that cannot be written counts as an exception.
    pub project: Arc<NodeStats>,
    pub send_error: bool,
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
    /// Everything else: rows as objects, shaped by the sink's properties.
    Shaped(Box<Shaper>),
}

/// Payloads that wait to be delivered.
#[derive(Default)]
pub struct Ready {
    pub buf: Vec<u8>,
    pub ends: Vec<u32>,
    pub props: Vec<Vec<Str>>,
    pub rows: Vec<Arc<Vec<Object>>>,
    pub header: Option<Arc<str>>,
}

impl Ready {
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty() && self.rows.is_empty()
    }

    /// Marks the end of a payload.
    pub fn end(&mut self) {
        self.ends.push(self.buf.len() as u32);
        self.buf.push(b'\n');
    }
}

impl RuleOutput {
    pub fn new(lanes: Vec<Lane>, project: Arc<NodeStats>, send_error: bool) -> Self {
        RuleOutput { lanes, project, send_error, ack: None }
    }

    pub fn has_pending(&self) -> bool {
        self.lanes.iter().any(|l| !l.ready.is_empty())
    }

    /// Puts what is ready into the queues of the sinks, waiting where they are full.
    pub async fn deliver(&mut self, clock: &Clock) {
        for lane in &mut self.lanes {
            if lane.ready.is_empty() {
                continue;
            }
            let (buf, ends) = lane.ports.first().map(Port::spare).unwrap_or_default();
            let fresh = Ready { buf, ends, ..Ready::default() };
            let ready = std::mem::replace(&mut lane.ready, fresh);
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
            LaneKind::Json { .. } => None,
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
        self.lanes.drain(..).flat_map(|l| l.ports).map(Port::into_handle).collect()
    }
}

impl Ready {
    fn copy(&self) -> Ready {
        Ready {
            buf: self.buf.clone(),
            ends: self.ends.clone(),
            props: self.props.clone(),
            rows: self.rows.clone(),
            header: self.header.clone(),
        }
    }

    fn into_batch(self, ack: Option<Ack>) -> SinkBatch {
        let data = if self.rows.is_empty() {
            SinkData::Bytes {
                buf: self.buf,
                ends: self.ends,
                props: self.props,
                header: self.header,
            }
        } else {
            SinkData::Rows { emissions: self.rows, props: self.props }
        };
        SinkBatch { data, ack }
    }
}

impl Output for RuleOutput {
    fn emit(&mut self, chunk: &mut Chunk<'_>, projection: &Projection, cx: &mut Cx<'_>) {
        let mut objects: Option<Vec<Arc<Vec<Object>>>> = None;
        let before = cx.row;
        for lane in &mut self.lanes {
            cx.row = before;
            for port in &lane.ports {
                port.stats.transform.add_in(chunk.sel.len() as u64, cx.now_ms);
            }
            match &mut lane.kind {
                LaneKind::Json { single, omit_if_empty } => {
                    let mut writer = JsonWriter {
                        ready: &mut lane.ready,
                        single: *single,
                        omit_if_empty: *omit_if_empty,
                        project: &self.project,
                        errors: Vec::new(),
                    };
                    writer.write(chunk, projection, cx);
                    let errors = writer.errors;
                    if self.send_error {
                        for error in errors {
                            lane.ready.buf.extend_from_slice(error.0.as_bytes());
                            lane.ready.end();
                        }
                    }
                }
                LaneKind::Shaped(shaper) => {
                    let rows = objects
                        .get_or_insert_with(|| emissions(chunk, projection, cx, &self.project));
                    for emission in rows.iter() {
                        shaper.push(emission, cx.now_ms, &mut lane.ready);
                    }
                }
            }
        }
        self.project.add_out(chunk.sel.len() as u64);
        cx.row = before;
        hits(chunk, chunk.sel.len(), cx);
    }

    fn error(&mut self, error: &Error) {
        for lane in &mut self.lanes {
            match &mut lane.kind {
                LaneKind::Json { .. } => {
                    lane.ready.buf.extend_from_slice(error.0.as_bytes());
                    lane.ready.end();
                }
                LaneKind::Shaped(shaper) => shaper.push_error(error, &mut lane.ready),
            }
        }
    }
}

/// Counts results for last_hit_count() and its like.
fn hits(chunk: &Chunk<'_>, rows: usize, cx: &mut Cx<'_>) {
    match chunk.emission {
        Emission::Rows if rows > 0 => {
            cx.row.hit_count += rows as i64;
            cx.row.hit_time = cx.now_ms;
        }
        Emission::Rows => {}
        Emission::Set(_) => {
            cx.row.agg_hit_count += 1;
            cx.row.agg_hit_time = cx.now_ms;
        }
    }
}

/// The context of one result row: its times, and the hits before it.
fn enter(chunk: &Chunk<'_>, row: u32, first: bool, cx: &mut Cx<'_>) {
    Times { stamps: chunk.stamps, emission: chunk.emission }.enter(row as usize, cx);
    if !first && chunk.emission == Emission::Rows {
        hits(chunk, 1, cx);
    }
}

/// Result rows as objects, one list an emission. Rows that fail are counted and left out; a set
/// with a failing row is lost as a whole.
fn emissions(
    chunk: &Chunk<'_>,
    projection: &Projection,
    cx: &mut Cx<'_>,
    project: &NodeStats,
) -> Vec<Arc<Vec<Object>>> {
    let set = matches!(chunk.emission, Emission::Set(_));
    let mut out = Vec::new();
    let mut list = Vec::new();
    for (at, &row) in chunk.sel.iter().enumerate() {
        if projection.uses_row_context {
            enter(chunk, row, at == 0, cx);
        }
        match projection.object(Env { frame: &chunk.frame, cx }, row as usize) {
            Ok(object) if set => list.push(object),
            Ok(object) => out.push(Arc::new(vec![object])),
            Err(error) => {
                project.exception(&error.0, cx.now_ms);
                if set {
                    return out;
                }
            }
        }
    }
    if set {
        out.push(Arc::new(list));
    }
    out
}

struct JsonWriter<'a> {
    ready: &'a mut Ready,
    single: bool,
    omit_if_empty: bool,
    project: &'a NodeStats,
    errors: Vec<Error>,
}

impl JsonWriter<'_> {
    fn write(&mut self, chunk: &Chunk<'_>, projection: &Projection, cx: &mut Cx<'_>) {
        match chunk.emission {
            Emission::Rows => self.rows(chunk, projection, cx),
            Emission::Set(_) => self.set(chunk, projection, cx),
        }
    }

    fn rows(&mut self, chunk: &Chunk<'_>, projection: &Projection, cx: &mut Cx<'_>) {
        for (at, &row) in chunk.sel.iter().enumerate() {
            if projection.uses_row_context {
                enter(chunk, row, at == 0, cx);
            }
            let start = self.ready.buf.len();
            if !self.single {
                self.ready.buf.push(b'[');
            }
            let env = Env { frame: &chunk.frame, cx };
            let done = projection.write_json(env, row as usize, &mut self.ready.buf);
            self.finish(start, done, cx.now_ms);
        }
    }

    fn finish(&mut self, start: usize, done: rekuiper_value::Result<()>, now_ms: i64) {
        let empty = self.omit_if_empty && self.ready.buf.len() - start == 2 && self.single;
        match done {
            Ok(()) if !empty => {
                if !self.single {
                    self.ready.buf.push(b']');
                }
                self.ready.end();
            }
            Ok(()) => self.ready.buf.truncate(start),
            Err(error) => {
                self.ready.buf.truncate(start);
                self.project.exception(&error.0, now_ms);
                self.errors.push(error);
            }
        }
    }

    fn set(&mut self, chunk: &Chunk<'_>, projection: &Projection, cx: &mut Cx<'_>) {
        if self.single {
            let ends = self.ready.ends.len();
            let start = self.ready.buf.len();
            self.rows(chunk, projection, cx);
            if !self.errors.is_empty() {
                self.ready.buf.truncate(start);
                self.ready.ends.truncate(ends);
            }
            return;
        }
        if self.omit_if_empty && chunk.sel.is_empty() {
            return;
        }
        let start = self.ready.buf.len();
        self.ready.buf.push(b'[');
        for (at, &row) in chunk.sel.iter().enumerate() {
            if at > 0 {
                self.ready.buf.push(b',');
            }
            if projection.uses_row_context {
                enter(chunk, row, at == 0, cx);
            }
            let env = Env { frame: &chunk.frame, cx };
            if let Err(error) = projection.write_json(env, row as usize, &mut self.ready.buf) {
                self.ready.buf.truncate(start);
                self.project.exception(&error.0, cx.now_ms);
                self.errors.push(error);
                return;
            }
        }
        self.ready.buf.push(b']');
        self.ready.end();
    }
}
