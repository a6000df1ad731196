//! The end of a rule: result rows become payloads, encoded once for all sinks that want the same.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use rekuiper_connect::{SinkBatch, SinkData};
use rekuiper_expr::Env;
use rekuiper_functions::{Cx, RowTimes};
use rekuiper_ops::frames::Times;
use rekuiper_ops::{Chunk, Emission, NodeStats, Output, Projection};
use rekuiper_rt::Clock;
use rekuiper_value::batch::Ack;
use rekuiper_value::{Error, Object, Str};

use crate::deliver::Port;
use crate::shape::Shaper;
use crate::sink::SinkHandle;
use crate::spares;

/// See the module's doc.
pub struct RuleOutput {
    lanes: Vec<Lane>,
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

    /// Takes a buffer that a sink gave back, where there is none yet.
    fn begin(&mut self) {
        if self.buf.capacity() == 0 {
            (self.buf, self.ends) = spares::take();
        }
    }

    /// Marks the end of a payload.
    pub fn end(&mut self) {
        self.ends.push(self.buf.len() as u32);
        self.buf.push(b'\n');
    }
}

impl RuleOutput {
    pub fn new(
        mut lanes: Vec<Lane>,
        project: Arc<NodeStats>,
        send_error: bool,
        event_time: bool,
    ) -> Self {
        lanes.shrink_to_fit();
        RuleOutput { lanes, project, send_error, event_time, ack: None }
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
        let row = ready.rows.first()?.first()?;
        let value = rekuiper_value::Value::Object(Arc::new(row.clone()));
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
                        errors: Vec::new(),
                    };
                    writer.write(chunk, projection, cx);
                    let errors = writer.errors;
                    taken = lane.ready.ends.len() - before;
                    if self.send_error {
                        for error in errors {
                            lane.ready.buf.extend_from_slice(error.0.as_bytes());
                            lane.ready.end();
                        }
                    }
                }
                LaneKind::Shaped(shaper) => {
                    let rows = objects
                        .get_or_insert_with(|| emissions(chunk, projection, cx, counted, hits));
                    taken = rows.len();
                    for emission in rows.iter() {
                        shaper.push(emission, cx.now_ms, &mut lane.ready);
                    }
                }
            }
            for port in &lane.ports {
                port.stats.transform.add_in(taken as u64, cx.now_ms);
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
                LaneKind::Json { .. } => {
                    lane.ready.buf.extend_from_slice(error.0.as_bytes());
                    lane.ready.end();
                }
                LaneKind::Shaped(shaper) => shaper.push_error(error, &mut lane.ready),
            }
        }
    }
}

/// What last_hit_count() and its like tell of the results before a row.
#[derive(Clone, Copy)]
struct Hits {
    before: RowTimes,
    event_time: bool,
}

impl Hits {
    /// When result number `at` of the chunk was.
    fn time(&self, chunk: &Chunk<'_>, at: usize, now_ms: i64) -> i64 {
        match (self.event_time, chunk.emission) {
            (false, _) => now_ms,
            (true, Emission::Set(times)) => times.end.unwrap_or(now_ms),
            (true, Emission::Rows) => {
                chunk.stamps.get(chunk.sel.get(at).map_or(0, |r| *r as usize))
            }
        }
    }

    /// The context of result number `at`: its times, and the hits before it.
    fn enter(&self, chunk: &Chunk<'_>, at: usize, cx: &mut Cx<'_>) {
        let row = chunk.sel.get(at).map_or(0, |r| *r as usize);
        Times { stamps: chunk.stamps, emission: chunk.emission }.enter(row, cx);
        if at > 0 && chunk.emission == Emission::Rows {
            cx.row.hit_count = self.before.hit_count + at as i64;
            cx.row.hit_time = self.time(chunk, at - 1, cx.now_ms);
        }
    }

    /// What holds after the chunk.
    fn after(&self, chunk: &Chunk<'_>, cx: &mut Cx<'_>) {
        cx.row = self.before;
        let rows = chunk.sel.len();
        match chunk.emission {
            Emission::Rows if rows > 0 => {
                cx.row.hit_count += rows as i64;
                cx.row.hit_time = self.time(chunk, rows - 1, cx.now_ms);
            }
            Emission::Rows => {}
            Emission::Set(_) => {
                cx.row.agg_hit_count += 1;
                cx.row.agg_hit_time = self.time(chunk, 0, cx.now_ms);
            }
        }
    }
}

/// Result rows as objects, one list an emission. Rows that fail are counted and left out; a set
/// with a failing row is lost as a whole.
fn emissions(
    chunk: &Chunk<'_>,
    projection: &Projection,
    cx: &mut Cx<'_>,
    counted: Option<&NodeStats>,
    hits: Hits,
) -> Vec<Arc<Vec<Object>>> {
    let set = matches!(chunk.emission, Emission::Set(_));
    let mut out = Vec::new();
    let mut list = Vec::new();
    for (at, &row) in chunk.sel.iter().enumerate() {
        if projection.uses_row_context {
            hits.enter(chunk, at, cx);
        }
        match projection.object(Env { frame: &chunk.frame, cx }, row as usize) {
            Ok(object) if set => list.push(object),
            Ok(object) => out.push(Arc::new(vec![object])),
            Err(error) => {
                if let Some(project) = counted {
                    project.exception(&error.0, cx.now_ms);
                }
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
    counted: Option<&'a NodeStats>,
    hits: Hits,
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
        let writer = projection.writer(&chunk.frame, chunk.sel);
        for (at, &row) in chunk.sel.iter().enumerate() {
            if projection.uses_row_context {
                self.hits.enter(chunk, at, cx);
            }
            let start = self.ready.buf.len();
            if !self.single {
                self.ready.buf.push(b'[');
            }
            let env = Env { frame: &chunk.frame, cx };
            let done = writer.write_json(env, at, row as usize, &mut self.ready.buf);
            self.finish(start, done, cx.now_ms);
        }
    }

    fn failed(&mut self, error: Error, now_ms: i64) {
        if let Some(project) = self.counted {
            project.exception(&error.0, now_ms);
        }
        self.errors.push(error);
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
                self.failed(error, now_ms);
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
        let writer = projection.writer(&chunk.frame, chunk.sel);
        for (at, &row) in chunk.sel.iter().enumerate() {
            if at > 0 {
                self.ready.buf.push(b',');
            }
            if projection.uses_row_context {
                self.hits.enter(chunk, at, cx);
            }
            let env = Env { frame: &chunk.frame, cx };
            if let Err(error) = writer.write_json(env, at, row as usize, &mut self.ready.buf) {
                self.ready.buf.truncate(start);
                self.failed(error, cx.now_ms);
                return;
            }
        }
        self.ready.buf.push(b']');
        if self.omit_if_empty && &self.ready.buf[start..] == b"[{}]" {
            return self.ready.buf.truncate(start); // an empty window's aggregates
        }
        self.ready.end();
    }
}
