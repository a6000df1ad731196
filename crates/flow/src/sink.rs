//! The worker of a sink: connects, writes what is in its queue, tries again what failed for reasons
//! that may pass, drops and counts what never will.
//!
//! A sink that reaches nobody has no worker until there is a first payload, and again none when it
//! has been idle: ten thousand rules shall cost little. One that waits for nothing has none at all.

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use rekuiper_connect::{
    BoxFuture, ConnStatus, ConnectError, Fault, Service, Sink, SinkBatch, SinkCx,
};
use rekuiper_ops::NodeStats;
use rekuiper_rt::limits::SINK_STUCK_MS;
use rekuiper_rt::limits::{SINK_QUEUE_BYTES_MAX, SINK_QUEUE_ROWS_MAX};
use rekuiper_rt::queue::{self, Gauge, Receiver, Sender};
use rekuiper_rt::{Clock, task};
use rekuiper_value::batch::Ack;

use crate::spares;

const RETRY_FIRST_MS: i64 = 100;
const RETRY_MAX_MS: i64 = 10_000;
/// How long a stop waits for a sink to write what it has.
const STOP_WAIT_MS: u64 = 5_000;
/// How long a worker without work stays.
const IDLE: Duration = Duration::from_secs(5);

/// Counters of the nodes between a rule's projection and its sink.
#[derive(Default)]
pub struct SinkStats {
    pub transform: NodeStats,
    pub encode: NodeStats,
    pub sink: NodeStats,
    pub status: Arc<ConnStatus>,
    /// What waits for the sink, where it has a queue.
    pub queue: OnceLock<Gauge<SinkBatch>>,
    /// The rule reads a shared stream: while the sink fails, its results owe the source no
    /// acknowledgement, or the source would stand still for all rules of the stream. They are kept
    /// and tried again all the same, in memory.
    pub shared: AtomicBool,
    /// The last try failed for reasons that may pass.
    pub failing: AtomicBool,
}

impl SinkStats {
    /// Whether results go into the queue without their acknowledgement.
    pub fn owes_nothing(&self) -> bool {
        self.shared.load(Relaxed) && self.failing.load(Relaxed)
    }
}

/// Where a worker is that does not run.
type Bench = Arc<Mutex<Option<Box<Worker>>>>;

/// A sink with its worker, seen from its rule.
pub struct SinkHandle {
    pub stats: Arc<SinkStats>,
    served: Served,
}

enum Served {
    /// Called by the rule itself.
    Direct(Box<dyn Sink>),
    Worker(Post),
}

/// Where a worker stands.
#[derive(Default)]
struct Post {
    stopping: Arc<AtomicBool>,
    /// Set while the worker is on the bench: it is looked at after each payload.
    resting: Arc<AtomicBool>,
    bench: Bench,
    task: Option<task::Task>,
}

impl SinkHandle {
    /// Opens the sink, by a worker where that may take time. Gives the way into its queue, where it
    /// has one.
    pub fn start(
        mut sink: Box<dyn Sink>,
        cx: SinkCx,
        stats: Arc<SinkStats>,
    ) -> (Self, Option<Sender<SinkBatch>>) {
        let service = sink.service();
        let opened = service != Service::Worker && opens_at_once(&mut sink, &cx, &stats);
        if opened && service == Service::Direct {
            return (SinkHandle { stats, served: Served::Direct(sink) }, None);
        }
        let name = format!("sink {} of {}", cx.op, cx.rule);
        let (tx, rx) = queue::bounded(name, SINK_QUEUE_ROWS_MAX, SINK_QUEUE_BYTES_MAX);
        stats.queue.get_or_init(|| tx.gauge());
        let mut post = Post::default();
        let worker = Box::new(Worker {
            sink,
            clock: cx.clock.clone(),
            cx,
            rx,
            stats: stats.clone(),
            stopping: post.stopping.clone(),
            resting: post.resting.clone(),
            may_rest: opened,
            opened,
        });
        if opened {
            post.resting.store(true, Relaxed);
            *lock(&post.bench) = Some(worker);
        } else {
            post.run(worker);
        }
        (SinkHandle { stats, served: Served::Worker(post) }, Some(tx))
    }

    /// Something was put into the queue.
    pub fn wake(&mut self) {
        if let Served::Worker(post) = &mut self.served {
            post.wake();
        }
    }

    /// Writes at once where the sink has no queue; gives the batch back where it has.
    pub async fn write(&mut self, batch: SinkBatch, clock: &Clock) -> Option<SinkBatch> {
        let Served::Direct(sink) = &mut self.served else { return Some(batch) };
        match sink.write(&batch, 0).await {
            Ok(()) => self.stats.sink.add_out(batch.len() as u64),
            Err(error) => {
                self.stats.sink.add_out(error.written as u64);
                let lost = (batch.len() - error.written) as u64;
                self.stats.sink.exceptions_of(lost, &error.text, clock.now_ms());
            }
        }
        spares::give(batch);
        None
    }

    /// Waits until what is queued is written, within bounds. Called with the queue's sender gone.
    pub async fn finish(self) {
        let work = async {
            match self.served {
                // it waits for nothing and holds nothing
                Served::Direct(mut sink) => drop(sink.close().await),
                Served::Worker(post) => post.finish().await,
            }
        };
        if tokio::time::timeout(Duration::from_millis(STOP_WAIT_MS), work).await.is_err() {
            tracing::warn!("a sink did not finish within {STOP_WAIT_MS} ms of the stop");
        }
    }
}

impl Post {
    fn run(&mut self, worker: Box<Worker>) {
        let name = format!("sink {} of rule {}", worker.cx.op, worker.cx.rule);
        self.task = Some(task::spawn(name, worker.run(self.bench.clone())));
    }

    /// The queue's lock, taken by the sender before this and by the worker after it has sat down,
    /// makes sure that one of the two sees the other.
    fn wake(&mut self) {
        if self.resting.load(Relaxed) {
            let worker = lock(&self.bench).take();
            if let Some(worker) = worker {
                self.resting.store(false, Relaxed);
                self.run(worker);
            }
        }
    }

    async fn finish(mut self) {
        self.stopping.store(true, Relaxed);
        let mut worker = lock(&self.bench).take();
        if worker.is_none() {
            if let Some(task) = self.task.take() {
                task.join().await;
            }
            worker = lock(&self.bench).take(); // it may have sat down just now
        }
        if let Some(worker) = worker {
            worker.run(Bench::default()).await;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(|e| e.into_inner())
}

/// Opens a sink that waits for nothing; false: it is a worker's matter after all.
fn opens_at_once(sink: &mut Box<dyn Sink>, cx: &SinkCx, stats: &SinkStats) -> bool {
    stats.status.trying(cx.clock.now_ms());
    let mut opening: BoxFuture<'_, Result<(), ConnectError>> = sink.open(cx);
    let mut context = Context::from_waker(Waker::noop());
    matches!(opening.as_mut().poll(&mut context), Poll::Ready(Ok(())))
}

struct Worker {
    sink: Box<dyn Sink>,
    clock: Clock,
    cx: SinkCx,
    rx: Receiver<SinkBatch>,
    stats: Arc<SinkStats>,
    stopping: Arc<AtomicBool>,
    resting: Arc<AtomicBool>,
    may_rest: bool,
    opened: bool,
}

impl Worker {
    async fn run(mut self: Box<Self>, bench: Bench) {
        if !self.opened && !self.open().await {
            return;
        }
        self.opened = true;
        loop {
            let next = match self.rx.try_recv() {
                Some(batch) => Some(batch),
                None => {
                    self.rest().await;
                    match self.wait().await {
                        Waited::Batch(batch) => batch,
                        Waited::Time => continue,
                        Waited::Idle => match self.sit_down(&bench) {
                            Some(worker) => {
                                self = worker;
                                continue;
                            }
                            None => return,
                        },
                    }
                }
            };
            let Some(mut batch) = next else { break };
            self.write(&mut batch).await;
            spares::give(batch);
        }
        if let Err(error) = self.sink.close().await {
            self.exception(&error);
        }
    }

    /// Leaves the thread until something comes; gives itself back when something has.
    fn sit_down(self: Box<Self>, bench: &Bench) -> Option<Box<Self>> {
        let resting = self.resting.clone();
        let mut place = lock(bench);
        let worker = place.insert(self);
        resting.store(true, Relaxed);
        if worker.rx.is_empty() {
            return None;
        }
        resting.store(false, Relaxed);
        place.take()
    }

    /// The queue is empty: make visible what is buffered.
    async fn rest(&mut self) {
        if let Err(error) = self.sink.flush().await {
            self.exception(&error);
        }
    }

    async fn wait(&mut self) -> Waited {
        let Some(at) = self.sink.deadline() else {
            if !self.may_rest || self.stopping.load(Relaxed) {
                return Waited::Batch(self.rx.recv().await);
            }
            return match tokio::time::timeout(IDLE, self.rx.recv()).await {
                Ok(batch) => Waited::Batch(batch),
                Err(_) => Waited::Idle,
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
            self.failed();
            self.clock.sleep_ms(pause).await;
            pause = (pause * 3 / 2).min(RETRY_MAX_MS);
        }
    }

    /// Other rules of a shared stream shall not wait for this sink's acknowledgements.
    fn failed(&mut self) {
        release(&self.stats, &mut self.rx);
    }

    fn exception(&self, error: &ConnectError) {
        self.stats.sink.exception(&error.text, self.clock.now_ms());
    }

    /// Writes all payloads of a batch: IO errors are tried again until they pass or the rule is
    /// stopped; a payload that cannot be written is left out and counted.
    async fn write(&mut self, batch: &mut SinkBatch) {
        let total = batch.len();
        let mut ack = batch.ack.take();
        let (mut from, mut pause) = (0, RETRY_FIRST_MS);
        while from < total {
            match self.try_write(batch, from, &mut ack).await {
                Ok(()) => {
                    self.stats.failing.store(false, Relaxed);
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
                    self.failed();
                    if self.stats.owes_nothing() {
                        ack = None;
                    }
                    self.clock.sleep_ms(pause).await;
                    pause = (pause * 3 / 2).min(RETRY_MAX_MS);
                }
            }
        }
    }

    /// One try. On a shared stream a sink that hangs is treated as one that fails: what it owes is
    /// let go after [`SINK_STUCK_MS`], while it goes on with its try.
    async fn try_write(
        &mut self,
        batch: &SinkBatch,
        from: usize,
        ack: &mut Option<Ack>,
    ) -> Result<(), ConnectError> {
        let mut writing = self.sink.write(batch, from);
        if !self.stats.shared.load(Relaxed) {
            return writing.await;
        }
        let patience = Duration::from_millis(SINK_STUCK_MS as u64);
        loop {
            match tokio::time::timeout(patience, &mut writing).await {
                Ok(done) => return done,
                Err(_) => {
                    *ack = None;
                    release(&self.stats, &mut self.rx);
                }
            }
        }
    }
}

/// The sink fails: where it shares its stream, what waits for it owes nothing any more.
fn release(stats: &SinkStats, rx: &mut Receiver<SinkBatch>) {
    stats.failing.store(true, Relaxed);
    if stats.owes_nothing() {
        rx.each(|batch| batch.ack = None);
    }
}

enum Waited {
    Batch(Option<SinkBatch>),
    /// Nothing came for [`IDLE`].
    Idle,
    Time,
}
