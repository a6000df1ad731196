//! What a connector is.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use rekuiper_rt::Clock;
use rekuiper_rt::queue::{self, Refused, Weight};
use rekuiper_value::batch::{Ack, RawBatch, SourceColumns};
use rekuiper_value::{Error, Object, Str, Value};

use crate::{ConnStatus, Services};

pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// Whose fault an error is, and so whether trying again can help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The configuration: trying again gives the same.
    Config,
    /// The peer, the network, the disk: may work later.
    Io,
    /// This payload: dropping it lets the others pass.
    Data,
}

/// An error of a connector, in words for its user.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{text}")]
pub struct ConnectError {
    pub fault: Fault,
    pub text: String,
    /// Payloads of the batch that were written before the error.
    pub written: usize,
}

impl ConnectError {
    pub fn config(text: impl Into<String>) -> Self {
        ConnectError { fault: Fault::Config, text: text.into(), written: 0 }
    }
    pub fn io(text: impl Into<String>) -> Self {
        ConnectError { fault: Fault::Io, text: text.into(), written: 0 }
    }
    pub fn data(text: impl Into<String>) -> Self {
        ConnectError { fault: Fault::Data, text: text.into(), written: 0 }
    }
    /// The same after `written` payloads had gone out.
    pub fn after(self, written: usize) -> Self {
        ConnectError { written, ..self }
    }
}

/// What a source puts into its stream's queue.
pub enum SourceItem {
    Batch(RawBatch),
    /// Something went wrong that rules should see (a disconnect, an unreadable file); it goes on.
    Error(Error),
    /// So many messages came and do not go on by themselves, as a property of the source asks
    /// (`interval`): for the counters.
    Skipped(u64),
}

impl Weight for SourceItem {
    fn rows(&self) -> usize {
        match self {
            SourceItem::Batch(batch) => batch.len().max(1),
            SourceItem::Error(_) | SourceItem::Skipped(_) => 1,
        }
    }
    fn bytes(&self) -> usize {
        0 // bounded by rows: a batch's bytes are its read buffer
    }
}

/// The stream is being stopped: the source ends.
#[derive(Debug)]
pub struct Stopped;

/// Where a source puts what it read.
pub struct SourceOut {
    pub tx: queue::Sender<SourceItem>,
}

impl SourceOut {
    /// Hands a batch over, waiting for room: this is how back-pressure reaches the source.
    pub async fn send(&self, batch: RawBatch) -> Result<(), Stopped> {
        self.tx.send(SourceItem::Batch(batch)).await.map_err(|_| Stopped)
    }

    /// Hands a batch over if there is room; gives it back otherwise.
    pub fn try_send(&self, batch: RawBatch) -> Result<Option<RawBatch>, Stopped> {
        match self.tx.try_send(SourceItem::Batch(batch)) {
            Ok(()) => Ok(None),
            Err(Refused::Full(SourceItem::Batch(back))) => Ok(Some(back)),
            Err(_) => Err(Stopped),
        }
    }

    pub async fn error(&self, text: impl Into<String>) -> Result<(), Stopped> {
        self.tx.send(SourceItem::Error(Error::new(text))).await.map_err(|_| Stopped)
    }

    /// Counts messages that do not go on.
    pub async fn skipped(&self, messages: u64) -> Result<(), Stopped> {
        self.tx.send(SourceItem::Skipped(messages)).await.map_err(|_| Stopped)
    }
}

/// When a source that works every `interval_ms` works next, after it was due at `last_ms`: times
/// that were missed are left out.
pub fn next_tick(last_ms: i64, interval_ms: i64, now_ms: i64) -> i64 {
    let next = last_ms.saturating_add(interval_ms);
    let late = now_ms.saturating_sub(next);
    if late <= 0 { next } else { now_ms + interval_ms - late % interval_ms.max(1) }
}

/// What a source is told about its place.
#[derive(Clone)]
pub struct SourceCx {
    pub services: Arc<Services>,
    pub clock: Clock,
    pub status: Arc<ConnStatus>,
    /// Rule that runs it; the stream's name for shared streams.
    pub rule: Arc<str>,
    pub stream: Arc<str>,
    /// Position to resume from, as the source itself gave it ([`Position::get`]).
    pub offset: Option<Value>,
}

/// A source. `run` ends with `Ok` at the end of its data, with an error when it cannot go on; it is
/// dropped when the stream stops. Connection losses are its own matter: it reconnects for ever.
pub trait Source: Send {
    fn run<'a>(self: Box<Self>, cx: SourceCx, out: SourceOut)
    -> BoxFuture<'a, Result<(), ConnectError>>;

    /// What can be said about it only with the process around it (that a file is there), asked when
    /// a rule is made: an error refuses the rule.
    fn check(&self, services: &Services) -> Result<(), ConnectError> {
        let _ = services;
        Ok(())
    }

    /// Its position in what it reads, where that can be kept and set.
    fn position(&self) -> Option<Arc<dyn Position>> {
        None
    }

    /// Which of the properties that any source may have ([`crate::intake`]) it follows itself.
    fn follows(&self) -> &'static [&'static str] {
        &[]
    }

    /// Whether it hands over rows (`Payloads::Rows`) instead of bytes: then FORMAT is not used.
    fn gives_rows(&self) -> bool {
        false
    }
}

/// Where a running source is in what it reads.
pub trait Position: Send + Sync {
    /// To be given back as [`SourceCx::offset`] at the next start.
    fn get(&self) -> Value;

    /// Goes on from there with its next read. An error where that is no position of it.
    fn reset(&self, to: &Object) -> Result<(), ConnectError>;
}

/// Payloads or rows for a sink.
pub struct SinkBatch {
    pub data: SinkData,
    pub ack: Option<Ack>,
}

pub enum SinkData {
    /// Encoded payloads, one after the other, each followed by a line feed that is not part of it:
    /// payload `i` ends at `ends[i]`, the next begins at `ends[i] + 1`.
    Bytes {
        buf: Vec<u8>,
        ends: Vec<u32>,
        /// Values of the sink's templated properties, one list a payload; empty when it has none.
        props: Vec<Vec<Str>>,
        /// Names of the columns, for files that begin with them (delimited rows).
        header: Option<Arc<str>>,
    },
    /// Results as rows; each emission a list.
    Rows { emissions: Vec<Arc<Vec<Object>>>, props: Vec<Vec<Str>> },
    /// Results as columns, for whoever computes on in this process: nothing was written as text.
    Columns(Vec<Arc<SourceColumns>>),
}

impl SinkBatch {
    /// Payloads or emissions.
    pub fn len(&self) -> usize {
        match &self.data {
            SinkData::Bytes { ends, .. } => ends.len(),
            SinkData::Rows { emissions, .. } => emissions.len(),
            SinkData::Columns(parts) => parts.iter().map(|part| part.rows).sum(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Payload `i`; empty for rows and columns.
    pub fn payload(&self, i: usize) -> &[u8] {
        match &self.data {
            SinkData::Bytes { buf, ends, .. } => {
                let start = if i == 0 { 0 } else { ends[i - 1] as usize + 1 };
                &buf[start..ends[i] as usize]
            }
            SinkData::Rows { .. } | SinkData::Columns(_) => &[],
        }
    }

    /// Value of the templated property number `prop` for payload `i`.
    pub fn prop(&self, i: usize, prop: usize) -> Option<&Str> {
        match &self.data {
            SinkData::Bytes { props, .. } | SinkData::Rows { props, .. } => props.get(i)?.get(prop),
            SinkData::Columns(_) => None,
        }
    }
}

impl Weight for SinkBatch {
    fn rows(&self) -> usize {
        self.len()
    }
    fn bytes(&self) -> usize {
        match &self.data {
            SinkData::Bytes { buf, .. } => buf.len(),
            SinkData::Rows { emissions, .. } => emissions.iter().map(|e| e.len() * 64).sum(),
            SinkData::Columns(parts) => parts.iter().map(|p| p.rows * p.cols.len() * 8).sum(),
        }
    }
}

/// What a sink is told about its place.
#[derive(Clone)]
pub struct SinkCx {
    pub services: Arc<Services>,
    pub clock: Clock,
    pub status: Arc<ConnStatus>,
    pub rule: Arc<str>,
    /// `mqtt_0`: type and number of the action.
    pub op: Arc<str>,
}

/// Who calls a sink.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// A worker of its own that connects at once, behind a queue.
    Worker,
    /// Opening it waits for nothing and reaches nobody: its worker begins with the first payload,
    /// and ends when there was none for a while; the sink stays open.
    Lazy,
    /// Writing waits for nothing either: the rule calls it without queue or worker.
    Direct,
}

/// A sink, served by one worker: calls never overlap.
pub trait Sink: Send {
    /// Connects. Called again, with pauses, after an [`Fault::Io`] error.
    fn open<'a>(&'a mut self, cx: &'a SinkCx) -> BoxFuture<'a, Result<(), ConnectError>> {
        let _ = cx;
        Box::pin(async { Ok(()) })
    }

    /// Writes a batch from payload `from` on. An error says how many payloads went out before it.
    fn write<'a>(
        &'a mut self,
        batch: &'a SinkBatch,
        from: usize,
    ) -> BoxFuture<'a, Result<(), ConnectError>>;

    /// Makes visible what it buffers. Called when its queue is empty.
    fn flush(&mut self) -> BoxFuture<'_, Result<(), ConnectError>> {
        Box::pin(async { Ok(()) })
    }

    /// When it wants `tick` next, Unix milliseconds.
    fn deadline(&self) -> Option<i64> {
        None
    }

    /// Time has come (file rolling).
    fn tick(&mut self, now_ms: i64) -> BoxFuture<'_, Result<(), ConnectError>> {
        let _ = now_ms;
        Box::pin(async { Ok(()) })
    }

    fn close(&mut self) -> BoxFuture<'_, Result<(), ConnectError>> {
        Box::pin(async { Ok(()) })
    }

    /// Who calls it.
    fn service(&self) -> Service {
        Service::Worker
    }

    /// Whether it takes rows instead of encoded payloads.
    fn takes_rows(&self) -> bool {
        false
    }

    /// Whether it takes columns instead of encoded payloads, where the action asks for no other
    /// shape.
    fn takes_columns(&self) -> bool {
        false
    }

    /// Offers the work of the properties `compression` and `encryption`; `key` is there where
    /// encryption is asked for. A sink that answers true does it itself (files are packed as a
    /// whole) and gets plain payloads.
    fn packs(&mut self, key: Option<&[u8]>) -> bool {
        let _ = key;
        false
    }

    /// Names of the properties that may hold templates, in the order of [`SinkBatch::prop`].
    fn templated(&self) -> &'static [&'static str] {
        &[]
    }
}

/// A lookup table.
pub trait Lookup: Send + Sync {
    /// Connects; called once when the table is first used.
    fn open<'a>(&'a self, cx: &'a SourceCx) -> BoxFuture<'a, Result<(), ConnectError>>;

    /// The rows whose columns have these values.
    fn find<'a>(
        &'a self,
        keys: &'a [(Str, Value)],
    ) -> BoxFuture<'a, Result<Vec<Arc<Object>>, ConnectError>>;

    /// The same at once, where nothing has to be waited for (memory tables); `None` otherwise.
    fn find_now(&self, keys: &[(Str, Value)]) -> Option<Vec<Arc<Object>>> {
        let _ = keys;
        None
    }
}

/// What a connector's constructor gives.
pub enum Opened {
    Source(Box<dyn Source>),
    Sink(Box<dyn Sink>),
    Lookup(Arc<dyn Lookup>),
}
