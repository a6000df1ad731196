//! The worker of a sink: connects, writes what is in its queue, tries again what failed for reasons
//! that may pass, drops and counts what never will.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use rekuiper_connect::{ConnStatus, ConnectError, Fault, Sink, SinkBatch, SinkCx, SinkData};
use rekuiper_ops::NodeStats;
use rekuiper_rt::queue::Receiver;
use rekuiper_rt::{Clock, task};

const RETRY_FIRST_MS: i64 = 100;
const RETRY_MAX_MS: i64 = 10_000;
/// How long a stop waits for a sink to write what it has.
const STOP_WAIT_MS: u64 = 5_000;

/// Counters of the nodes between a rule's projection and its sink.
#[derive(Default)]
pub struct SinkStats {
    pub transform: Arc<NodeStats>,
    pub encode: Arc<NodeStats>,
    pub sink: Arc<NodeStats>,
    pub status: Arc<ConnStatus>,
}

/// Buffers that come back from a sink to be filled again.
#[derive(Clone, Default)]
pub struct Spares(Arc<Mutex<Vec<(Vec<u8>, Vec<u32>)>>>);

/// Buffers kept per sink, and the largest one kept.
const SPARES_MAX: usize = 2;
const SPARE_BYTES_MAX: usize = 1 << 20;

impl Spares {
    pub fn take(&self) -> (Vec<u8>, Vec<u32>) {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).pop().unwrap_or_default()
    }

    fn give(&self, batch: SinkBatch) {
        if let SinkData::Bytes { mut buf, mut ends, .. } = batch.data
            && buf.capacity() <= SPARE_BYTES_MAX
        {
            buf.clear();
            ends.clear();
            let mut spares = self.0.lock().unwrap_or_else(|e| e.into_inner());
            if spares.len() < SPARES_MAX {
                spares.push((buf, ends));
            }
        }
    }

    fn let_go(&self) {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).clear();
    }
}

/// The running worker, seen from its rule.
pub struct SinkHandle {
    pub stats: Arc<SinkStats>,
    pub spares: Spares,
    stopping: Arc<AtomicBool>,
    task: task::Task,
}

impl SinkHandle {
    /// Starts the worker.
    pub fn start(
        sink: Box<dyn Sink>,
        cx: SinkCx,
        rx: Receiver<SinkBatch>,
        stats: Arc<SinkStats>,
    ) -> Self {
        let spares = Spares::default();
        let stopping = Arc::new(AtomicBool::new(false));
        let name = format!("sink {} of rule {}", cx.op, cx.rule);
        let worker = Worker {
            sink,
            clock: cx.clock.clone(),
            cx,
            rx,
            stats: stats.clone(),
            spares: spares.clone(),
            stopping: stopping.clone(),
        };
        let task = task::spawn(name, worker.run());
        SinkHandle { stats, spares, stopping, task }
    }

    /// Waits until what is queued is written, within bounds. Called with the queue's sender gone.
    pub async fn finish(self) {
        self.stopping.store(true, Relaxed);
        let wait = std::time::Duration::from_millis(STOP_WAIT_MS);
        if tokio::time::timeout(wait, self.task.join()).await.is_err() {
            tracing::warn!("a sink did not finish within {STOP_WAIT_MS} ms of the stop");
        }
    }
}

struct Worker {
    sink: Box<dyn Sink>,
    clock: Clock,
    cx: SinkCx,
    rx: Receiver<SinkBatch>,
    stats: Arc<SinkStats>,
    spares: Spares,
    stopping: Arc<AtomicBool>,
}

impl Worker {
    async fn run(mut self) {
        if !self.open().await {
            return;
        }
        loop {
            let next = match self.rx.try_recv() {
                Some(batch) => Some(batch),
                None => {
                    self.rest().await;
                    match self.wait().await {
                        Waited::Batch(batch) => batch,
                        Waited::Time => continue,
                    }
                }
            };
            let Some(batch) = next else { break };
            self.write(&batch).await;
            self.spares.give(batch);
        }
        if let Err(error) = self.sink.close().await {
            self.exception(&error);
        }
    }

    /// The queue is empty: make visible what is buffered.
    async fn rest(&mut self) {
        if let Err(error) = self.sink.flush().await {
            self.exception(&error);
        }
    }

    async fn wait(&mut self) -> Waited {
        let Some(at) = self.sink.deadline() else {
            // an idle sink keeps no buffers: ten thousand of them shall cost little
            let idle = std::time::Duration::from_secs(5);
            return match tokio::time::timeout(idle, self.rx.recv()).await {
                Ok(batch) => Waited::Batch(batch),
                Err(_) => {
                    self.spares.let_go();
                    Waited::Batch(self.rx.recv().await)
                }
            };
        };
        tokio::select! {
            batch = self.rx.recv() => Waited::Batch(batch),
            _ = self.clock.sleep_until(at) => {
                let now = self.clock.now_ms();
                if let Err(error) = self.sink.tick(now).await {
                    self.exception(&error);
                }
                Waited::Time
            }
        }
    }

    /// Connects, again and again where that may help. False: never.
    async fn open(&mut self) -> bool {
        let mut pause = RETRY_FIRST_MS;
        loop {
            self.stats.status.trying(self.clock.now_ms());
            let Err(error) = self.sink.open(&self.cx).await else { return true };
            self.exception(&error);
            if error.fault == Fault::Config || self.stopping.load(Relaxed) {
                return false;
            }
            self.stats.status.disconnected(self.clock.now_ms(), &error.text);
            self.clock.sleep_ms(pause).await;
            pause = (pause * 3 / 2).min(RETRY_MAX_MS);
        }
    }

    fn exception(&self, error: &ConnectError) {
        self.stats.sink.exception(&error.text, self.clock.now_ms());
    }

    /// Writes all payloads of a batch: IO errors are tried again until they pass or the rule is
    /// stopped; a payload that cannot be written is left out and counted.
    async fn write(&mut self, batch: &SinkBatch) {
        let total = batch.len();
        let (mut from, mut pause) = (0, RETRY_FIRST_MS);
        while from < total {
            match self.sink.write(batch, from).await {
                Ok(()) => {
                    self.stats.sink.add_out((total - from) as u64);
                    return;
                }
                Err(error) => {
                    self.exception(&error);
                    self.stats.sink.add_out(error.written as u64);
                    from += error.written;
                    if error.fault != Fault::Io {
                        from += 1; // this payload never will
                        continue;
                    }
                    if error.written > 0 {
                        pause = RETRY_FIRST_MS;
                    }
                    if self.stopping.load(Relaxed) {
                        let lost = (total - from) as u64;
                        let text = format!("stopped with {lost} payloads unsent: {}", error.text);
                        self.stats.sink.exceptions_of(lost, &text, self.clock.now_ms());
                        return;
                    }
                    self.clock.sleep_ms(pause).await;
                    pause = (pause * 3 / 2).min(RETRY_MAX_MS);
                }
            }
        }
    }
}

enum Waited {
    Batch(Option<SinkBatch>),
    Time,
}
