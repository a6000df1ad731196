//! A stream at work: its source, its queue, its decoder, and the rules that subscribe to it. Shared
//! by all rules on a SHARED stream; otherwise one a rule.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};

use rekuiper_connect::{ConnStatus, Position, Source, SourceCx, SourceItem, SourceOut};
use rekuiper_formats::Decoder;
use rekuiper_ops::NodeStats;
use rekuiper_rt::limits::SOURCE_QUEUE_ROWS_MAX;
use rekuiper_rt::queue::{self, Gauge, Receiver};
use rekuiper_rt::{Clock, task};
use rekuiper_value::batch::RawBatch;
use rekuiper_value::{Batch, Field};

use crate::gate::Bounds;
use crate::rule::{Ended, RuleCell};

/// A rule that reads the stream.
#[derive(Clone)]
pub struct Subscriber {
    pub id: u64,
    pub rule: Arc<RuleCell>,
    /// Which of the rule's sources this is.
    pub source: usize,
    /// The stream's column of each field of that source.
    pub map: Arc<[u16]>,
}

/// See [`StreamCell::place`].
pub struct Place {
    pub rule: Arc<RuleCell>,
    pub source: usize,
    pub fields: Vec<Option<Field>>,
    pub context: Option<u16>,
}

struct Subscribers {
    list: Vec<Subscriber>,
    /// What any of them reads; the index is the column. Only grows; a field nobody reads any more
    /// is `None`.
    fields: Vec<Option<Field>>,
    next_id: u64,
}

/// See the module's doc. The tasks end when it is dropped.
pub struct StreamCell {
    pub name: Arc<str>,
    pub source_stats: Arc<NodeStats>,
    pub decoder_stats: Arc<NodeStats>,
    pub status: Arc<ConnStatus>,
    pub gauge: Gauge<SourceItem>,
    /// Whether messages are decoded (the source gives bytes).
    pub decodes: bool,
    subscribers: Mutex<Subscribers>,
    version: AtomicU64,
    tasks: Mutex<Vec<task::Task>>,
    position: OnceLock<Arc<dyn Position>>,
    /// Rows handed to rules at once; smaller only in tests.
    batch_rows: AtomicUsize,
}

impl StreamCell {
    /// A stream that has not started; subscribe, then [`start`](Self::start).
    pub fn new(name: &str, decodes: bool, batch_rows: usize) -> (Arc<Self>, StreamStart) {
        let bytes_max = usize::MAX; // bounded by rows: a batch's bytes are its read buffer
        let (tx, rx) = queue::bounded(format!("stream {name}"), SOURCE_QUEUE_ROWS_MAX, bytes_max);
        let cell = Arc::new(StreamCell {
            name: name.into(),
            source_stats: Arc::default(),
            decoder_stats: Arc::default(),
            status: Arc::default(),
            gauge: tx.gauge(),
            decodes,
            subscribers: Mutex::new(Subscribers {
                list: Vec::new(),
                fields: Vec::new(),
                next_id: 0,
            }),
            version: AtomicU64::new(0),
            tasks: Mutex::default(),
            position: OnceLock::new(),
            batch_rows: AtomicUsize::new(batch_rows.max(1)),
        });
        (cell, StreamStart { tx, rx })
    }

    /// Starts source and executor.
    pub fn start(
        self: &Arc<Self>,
        start: StreamStart,
        source: Box<dyn Source>,
        decoder: Decoder,
        cx: SourceCx,
    ) {
        if let Some(position) = source.position() {
            self.position.get_or_init(|| position);
        }
        let (ended_tx, ended_rx) = tokio::sync::oneshot::channel();
        let clock = cx.clock.clone();
        let out = SourceOut { tx: start.tx };
        let read = async move {
            let ended = match source.run(cx, out).await {
                Ok(()) => Ended::Done,
                Err(error) => Ended::Failed(error.text),
            };
            let _ = ended_tx.send(ended);
        };
        let executor = Executor {
            stream: Arc::downgrade(self),
            rx: start.rx,
            decoder,
            clock,
            seen: u64::MAX,
            subscribers: Arc::default(),
            ended: ended_rx,
        };
        let mut tasks = self.tasks.lock().unwrap_or_else(|e| e.into_inner());
        tasks.push(task::spawn(format!("source of {}", self.name), read));
        tasks.push(task::spawn(format!("executor of {}", self.name), executor.run()));
    }

    /// Where its source is, if that can be kept and set.
    pub fn position(&self) -> Option<&dyn Position> {
        self.position.get().map(|position| &**position)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Subscribers> {
        self.subscribers.lock().unwrap_or_else(|e| e.into_inner())
    }

    /// Columns for these fields: known ones are shared, new ones appended.
    pub fn columns(&self, fields: &[Field]) -> Arc<[u16]> {
        let mut subs = self.lock();
        let mut map = Vec::with_capacity(fields.len());
        for field in fields {
            let known = subs.fields.iter().position(|f| f.as_ref() == Some(field));
            let at = known.unwrap_or_else(|| {
                subs.fields.push(Some(field.clone()));
                subs.fields.len() - 1
            });
            map.push(at as u16);
        }
        // there are many rules, and many read the same
        match subs.list.last() {
            Some(last) if *last.map == *map => last.map.clone(),
            _ => map.into(),
        }
    }

    pub fn subscribe(&self, rule: Arc<RuleCell>, source: usize, map: Arc<[u16]>) -> u64 {
        let mut subs = self.lock();
        let id = subs.next_id;
        subs.next_id += 1;
        subs.list.push(Subscriber { id, rule, source, map });
        drop(subs);
        self.version.fetch_add(1, Relaxed);
        id
    }

    /// Takes a rule off; fields that only it read are no longer decoded. Returns how many are left.
    pub fn unsubscribe(&self, id: u64) -> usize {
        let mut subs = self.lock();
        let subs_now = &mut *subs;
        subs_now.list.retain(|s| s.id != id);
        for (at, field) in subs_now.fields.iter_mut().enumerate() {
            if !subs_now.list.iter().any(|s| s.map.contains(&(at as u16))) {
                *field = None;
            }
        }
        let left = subs_now.list.len();
        drop(subs);
        self.version.fetch_add(1, Relaxed);
        left
    }

    /// The rule of a place, which of its sources this is, and what it reads; with the column of
    /// `also`, which is read from now on. For traces.
    pub fn place(&self, id: u64, also: &Field) -> Option<Place> {
        let context = self.columns(std::slice::from_ref(also)).first().copied();
        self.version.fetch_add(1, Relaxed);
        let subs = self.lock();
        let sub = subs.list.iter().find(|s| s.id == id)?;
        let field = |col: &u16| subs.fields.get(usize::from(*col)).cloned().flatten();
        let fields = sub.map.iter().map(field).collect();
        Some(Place { rule: sub.rule.clone(), source: sub.source, fields, context })
    }

    /// Stops reading.
    pub fn stop(&self) {
        self.tasks.lock().unwrap_or_else(|e| e.into_inner()).clear();
    }
}

/// The two ends of the stream's queue before it starts.
pub struct StreamStart {
    tx: queue::Sender<SourceItem>,
    rx: Receiver<SourceItem>,
}

struct Executor {
    stream: std::sync::Weak<StreamCell>,
    rx: Receiver<SourceItem>,
    decoder: Decoder,
    clock: Clock,
    /// Version of the subscribers that is in use.
    seen: u64,
    subscribers: Arc<Vec<Subscriber>>,
    ended: tokio::sync::oneshot::Receiver<Ended>,
}

impl Executor {
    async fn run(mut self) {
        while let Some(item) = self.rx.recv().await {
            let Some(stream) = self.stream.upgrade() else { return };
            self.refresh(&stream);
            match item {
                SourceItem::Batch(raw) => self.batch(&stream, raw).await,
                // they came in and do not go out
                SourceItem::Skipped(messages) => {
                    stream.source_stats.add_in(messages, self.clock.now_ms());
                }
                SourceItem::Error(error) => {
                    stream.source_stats.exception(&error.0, self.clock.now_ms());
                    for sub in self.subscribers.iter() {
                        sub.rule.on_error(&error).await;
                    }
                }
            }
        }
        let ended = (&mut self.ended).await.unwrap_or(Ended::Done);
        let Some(stream) = self.stream.upgrade() else { return };
        self.refresh(&stream);
        // a rule's end may stop this very stream: let it happen from a task of its own
        let subscribers = self.subscribers.clone();
        task::spawn(format!("end of {}", stream.name), async move {
            for sub in subscribers.iter() {
                sub.rule.on_eof(ended.clone()).await;
            }
        })
        .detach();
    }

    fn refresh(&mut self, stream: &StreamCell) {
        let version = stream.version.load(Relaxed);
        if version != self.seen {
            let subs = stream.lock();
            self.subscribers = Arc::new(subs.list.clone());
            self.decoder.set_fields(&subs.fields);
            self.seen = version;
        }
    }

    async fn batch(&mut self, stream: &StreamCell, raw: RawBatch) {
        let now = self.clock.now_ms();
        let messages = raw.len() as u64;
        stream.source_stats.add_in(messages, now);
        stream.source_stats.add_out(messages);
        let rows_max = stream.batch_rows.load(Relaxed);
        if raw.len() <= rows_max {
            let batch = self.decode(stream, raw, now);
            return self.rules(&batch).await;
        }
        for part in raw.split(rows_max) {
            let batch = self.decode(stream, part, now);
            self.rules(&batch).await;
        }
    }

    fn decode(&mut self, stream: &StreamCell, raw: RawBatch, now: i64) -> Batch {
        let messages = raw.len() as u64;
        let batch = self.decoder.decode(raw);
        if stream.decodes {
            stream.decoder_stats.add_in(messages, now);
            stream.decoder_stats.add_out(batch.rows as u64);
            for (_, error) in &batch.errors {
                stream.decoder_stats.exception(&error.0, now);
            }
        }
        batch
    }

    async fn rules(&self, batch: &Batch) {
        let mut bounds = Bounds::default();
        let now = self.clock.now_ms();
        let whole = batch.errors.is_empty() && batch.rows > 0;
        for sub in self.subscribers.iter() {
            if whole && sub.rule.passes_by(&sub.map, batch, &mut bounds, now) {
                continue;
            }
            sub.rule.on_batch(sub.source, &sub.map, batch).await;
        }
    }
}
