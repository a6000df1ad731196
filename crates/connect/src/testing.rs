//! What the tests of connectors share: services, a hand-turned clock, a source whose output is
//! read as text, batches for sinks.

use std::sync::Arc;

use rekuiper_rt::clock::ManualClock;
use rekuiper_rt::task::{self, Task};
use rekuiper_rt::{Clock, queue};
use rekuiper_value::batch::{Payloads, RawBatch};
use rekuiper_value::json;
use rekuiper_value::{Error, Object, Str, Value};
use serde_json::Value as Json;

use crate::traits::{Opened, SinkCx, SinkData, SourceCx, SourceItem, SourceOut};
use crate::{ConnStatus, ConnectError, Lookup, Props, Services, Sink, SinkBatch, Source};

/// Where every test's clock begins.
pub const START_MS: i64 = 1_000_000;

pub fn props(value: Json) -> Props {
    match value {
        Json::Object(map) => Props::new(map),
        other => panic!("properties are an object, not {other}"),
    }
}

pub fn source_of(made: Result<Opened, ConnectError>) -> Box<dyn Source> {
    match made {
        Ok(Opened::Source(source)) => source,
        Ok(_) => panic!("not a source"),
        Err(e) => panic!("{e}"),
    }
}

pub fn sink_of(made: Result<Opened, ConnectError>) -> Box<dyn Sink> {
    match made {
        Ok(Opened::Sink(sink)) => sink,
        Ok(_) => panic!("not a sink"),
        Err(e) => panic!("{e}"),
    }
}

pub fn lookup_of(made: Result<Opened, ConnectError>) -> Arc<dyn Lookup> {
    match made {
        Ok(Opened::Lookup(lookup)) => lookup,
        Ok(_) => panic!("not a lookup"),
        Err(e) => panic!("{e}"),
    }
}

pub fn error_of(made: Result<Opened, ConnectError>) -> ConnectError {
    match made {
        Ok(_) => panic!("it was accepted"),
        Err(e) => e,
    }
}

/// A process around connectors, with a clock that stands still.
pub struct World {
    pub services: Arc<Services>,
    pub hand: Arc<ManualClock>,
}

impl World {
    pub fn new() -> World {
        World::at(std::env::temp_dir())
    }

    pub fn at(base: std::path::PathBuf) -> World {
        let (clock, hand) = Clock::manual(START_MS);
        let data = base.join("data");
        World { services: Services::new(clock, base, data), hand }
    }

    pub fn source_cx(&self) -> SourceCx {
        SourceCx {
            services: self.services.clone(),
            clock: self.services.clock.clone(),
            status: Arc::new(ConnStatus::default()),
            rule: "r".into(),
            stream: "s".into(),
            offset: None,
        }
    }

    pub fn sink_cx(&self) -> SinkCx {
        SinkCx {
            services: self.services.clone(),
            clock: self.services.clock.clone(),
            status: Arc::new(ConnStatus::default()),
            rule: "r".into(),
            op: "sink_0".into(),
        }
    }

    pub fn run(&self, source: Box<dyn Source>) -> Running {
        let cx = self.source_cx();
        let status = cx.status.clone();
        let (tx, rx) = queue::bounded("test", 4096, usize::MAX);
        let (told, end) = tokio::sync::oneshot::channel();
        let task = task::spawn("source", async move {
            let _ = told.send(source.run(cx, SourceOut { tx }).await);
        });
        Running { rx, end, status, skipped: 0, _task: task }
    }
}

/// A source that runs.
pub struct Running {
    rx: queue::Receiver<SourceItem>,
    end: tokio::sync::oneshot::Receiver<Result<(), ConnectError>>,
    pub status: Arc<ConnStatus>,
    /// Messages that did not go on, as far as what was taken out here tells.
    pub skipped: u64,
    _task: Task,
}

impl Running {
    /// What an item brings; nothing when it only counts.
    fn brought(&mut self, item: SourceItem) -> Option<Result<RawBatch, Error>> {
        match item {
            SourceItem::Batch(batch) => Some(Ok(batch)),
            SourceItem::Error(error) => Some(Err(error)),
            SourceItem::Skipped(messages) => {
                self.skipped += messages;
                None
            }
        }
    }

    async fn next(&mut self) -> Option<Result<RawBatch, Error>> {
        loop {
            let item = self.rx.recv().await?;
            if let Some(brought) = self.brought(item) {
                return Some(brought);
            }
        }
    }

    fn try_next(&mut self) -> Option<Result<RawBatch, Error>> {
        loop {
            let item = self.rx.try_recv()?;
            if let Some(brought) = self.brought(item) {
                return Some(brought);
            }
        }
    }

    pub async fn batch(&mut self) -> RawBatch {
        match self.next().await {
            Some(Ok(batch)) => batch,
            Some(Err(e)) => panic!("an error instead of a batch: {e}"),
            None => panic!("the source ended"),
        }
    }

    /// The next batch as texts: payloads, or rows as JSON.
    pub async fn texts(&mut self) -> Vec<String> {
        texts(&self.batch().await)
    }

    /// The next batch as texts, turning the clock until it is there: where reading happens in
    /// another thread, one turn may come too early.
    pub async fn texts_later(&mut self, hand: &ManualClock, step_ms: i64) -> Vec<String> {
        loop {
            settle().await;
            match self.try_next() {
                Some(Ok(batch)) => return texts(&batch),
                Some(Err(e)) => panic!("an error instead of a batch: {e}"),
                None => hand.advance(step_ms),
            }
        }
    }

    pub async fn error(&mut self) -> String {
        match self.next().await {
            Some(Err(e)) => e.to_string(),
            Some(Ok(b)) => panic!("rows instead of an error: {:?}", texts(&b)),
            None => panic!("the source ended"),
        }
    }

    /// Whether nothing is there now, after all that can run has run.
    pub async fn is_silent(&mut self) -> bool {
        settle().await;
        self.try_next().is_none()
    }

    /// All texts until the end, and how it ended.
    pub async fn until_end(mut self) -> (Vec<String>, Result<(), ConnectError>) {
        let mut all = Vec::new();
        while let Some(brought) = self.next().await {
            match brought {
                Ok(batch) => all.extend(texts(&batch)),
                Err(e) => all.push(format!("error: {e}")),
            }
        }
        (all, self.end.await.expect("the source tells how it ended"))
    }
}

pub fn texts(batch: &RawBatch) -> Vec<String> {
    match &batch.payloads {
        Payloads::Bytes { bytes, msgs } => {
            let text = |(at, len): (u32, u32)| {
                String::from_utf8_lossy(&bytes[at as usize..(at + len) as usize]).into_owned()
            };
            msgs.iter().map(|m| text(m.payload)).collect()
        }
        Payloads::Rows(rows) => rows.iter().map(|r| show(&r.data)).collect(),
        Payloads::Columns(c) => (0..c.rows).map(|row| show(&Arc::new(c.object(row)))).collect(),
    }
}

pub fn show(row: &Arc<Object>) -> String {
    json::to_string(&Value::Object(row.clone())).unwrap_or_default()
}

/// Lets every task run that can.
pub async fn settle() {
    for _ in 0..50 {
        tokio::task::yield_now().await;
    }
}

/// Encoded payloads for a sink, with values of its templated properties.
pub fn payloads(texts: &[&str], props: Vec<Vec<Str>>) -> SinkBatch {
    let (mut buf, mut ends) = (Vec::new(), Vec::new());
    for text in texts {
        buf.extend_from_slice(text.as_bytes());
        ends.push(buf.len() as u32);
        buf.push(b'\n');
    }
    SinkBatch { data: SinkData::Bytes { buf, ends, props, header: None }, ack: None }
}

/// One emission of rows a text (a JSON array).
pub fn emissions(texts: &[&str], props: Vec<Vec<Str>>) -> SinkBatch {
    let rows = |text: &&str| match json::parse(text.as_bytes()) {
        Ok(Value::Array(rows)) => {
            Arc::new(rows.iter().filter_map(|r| Some((**r.as_object()?).clone())).collect())
        }
        other => panic!("{text} is no list: {other:?}"),
    };
    let emissions = texts.iter().map(rows).collect();
    SinkBatch { data: SinkData::Rows { emissions, props }, ack: None }
}

/// A folder of its own, gone with the value.
pub struct Folder(pub std::path::PathBuf);

impl Folder {
    pub fn new() -> Folder {
        use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("rekuiper-{}-{}", std::process::id(), NEXT.fetch_add(1, Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a folder for the test");
        Folder(path)
    }

    pub fn write(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.0.join(name), text).expect("a file for the test");
    }

    pub fn path(&self) -> &str {
        self.0.to_str().expect("a plain path")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Polls once.
pub async fn is_pending<T>(work: &mut (impl Future<Output = T> + Unpin)) -> bool {
    use std::pin::Pin;
    std::future::poll_fn(|cx| std::task::Poll::Ready(Pin::new(&mut *work).poll(cx).is_pending()))
        .await
}
