//! Topics inside the process. Subscribers are found by MQTT's rules for filters; each has a queue
//! with a bound. A publisher waits for a subscriber that still takes rows; rows for one that has
//! taken nothing for a while are dropped and counted, so that it cannot hold up other rules.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};

use rekuiper_mqtt_codec::topic::topic_matches;
use rekuiper_rt::Clock;
use rekuiper_rt::limits::SINK_STUCK_MS;
use rekuiper_rt::queue::{self, Refused, Weight};
use rekuiper_value::{Object, Str, Value};

/// What a row does to a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    Insert,
    Update,
    Upsert,
    Delete,
}

impl RowKind {
    pub fn by_name(name: &str) -> Option<RowKind> {
        match name {
            "insert" => Some(RowKind::Insert),
            "update" => Some(RowKind::Update),
            "upsert" => Some(RowKind::Upsert),
            "delete" => Some(RowKind::Delete),
            _ => None,
        }
    }
}

#[derive(Clone, Debug)]
pub struct MemoryRow {
    pub data: Arc<Object>,
    /// What it does to tables and with which key value, where its sink says so (`rowkindField`,
    /// `keyField`).
    pub change: Option<(RowKind, Value)>,
}

/// Rows published together; cloned for each subscriber.
#[derive(Clone, Debug)]
pub struct Message {
    pub topic: Str,
    pub rows: Arc<Vec<MemoryRow>>,
    /// Unix milliseconds.
    pub ts: i64,
}

impl Weight for Message {
    fn rows(&self) -> usize {
        self.rows.len().max(1)
    }
    fn bytes(&self) -> usize {
        0 // bounded by rows, which are shared with the publisher's other subscribers
    }
}

type Table = Arc<dyn Fn(&Message) + Send + Sync>;

#[derive(Clone)]
enum To {
    Queue { tx: queue::Sender<Message>, stuck: Arc<AtomicU64> },
    /// Told at once: what follows a publish sees it.
    Table(Table),
}

/// No subscriber was found stuck.
const MOVING: u64 = u64::MAX;

#[derive(Clone)]
struct Subscriber {
    id: u64,
    filter: Str,
    to: To,
}

#[derive(Default)]
struct Subscribers {
    exact: HashMap<Str, Vec<Subscriber>>,
    wild: Vec<Subscriber>,
    next: u64,
}

/// See the module's doc.
#[derive(Clone, Default)]
pub struct MemoryBus {
    all: Arc<RwLock<Subscribers>>,
    dropped: Arc<AtomicU64>,
}

/// Ends with its value.
pub struct Subscription {
    bus: MemoryBus,
    id: u64,
    filter: Str,
}

impl MemoryBus {
    /// Rows of topics that match the filter, up to `rows_max` waiting.
    pub fn subscribe(
        &self,
        filter: &str,
        rows_max: usize,
    ) -> (Subscription, queue::Receiver<Message>) {
        let (tx, rx) = queue::bounded(format!("memory {filter}"), rows_max.max(1), usize::MAX);
        let stuck = Arc::new(AtomicU64::new(MOVING));
        (self.add(filter, To::Queue { tx, stuck }), rx)
    }

    /// Calls `table` for each message, in the task of its publisher.
    pub fn tell(
        &self,
        filter: &str,
        table: impl Fn(&Message) + Send + Sync + 'static,
    ) -> Subscription {
        self.add(filter, To::Table(Arc::new(table)))
    }

    fn add(&self, filter: &str, to: To) -> Subscription {
        let filter = Str::from(filter);
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        let id = all.next;
        all.next += 1;
        let subscriber = Subscriber { id, filter: filter.clone(), to };
        if filter.contains(['+', '#']) {
            all.wild.push(subscriber);
        } else {
            all.exact.entry(filter.clone()).or_default().push(subscriber);
        }
        Subscription { bus: self.clone(), id, filter }
    }

    /// Rows dropped so far because their subscriber was stuck.
    pub fn dropped_rows(&self) -> u64 {
        self.dropped.load(Relaxed)
    }

    /// Hands the rows to all subscribers of the topic.
    pub async fn publish(&self, message: Message, clock: &Clock) {
        for subscriber in self.subscribers(&message.topic) {
            match &subscriber.to {
                To::Table(table) => table(&message),
                To::Queue { tx, stuck } => {
                    let dropped = offer(tx, stuck, message.clone(), clock).await;
                    if dropped > 0 {
                        self.dropped.fetch_add(dropped, Relaxed);
                    }
                }
            }
        }
    }

    fn subscribers(&self, topic: &str) -> Vec<Subscriber> {
        let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
        let mut found = all.exact.get(topic).cloned().unwrap_or_default();
        found.extend(all.wild.iter().filter(|s| topic_matches(&s.filter, topic)).cloned());
        found
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let mut all = self.bus.all.write().unwrap_or_else(PoisonError::into_inner);
        all.wild.retain(|s| s.id != self.id);
        if let Some(same) = all.exact.get_mut(&self.filter) {
            same.retain(|s| s.id != self.id);
            if same.is_empty() {
                all.exact.remove(&self.filter);
            }
        }
    }
}

/// Rows dropped. Waits while the subscriber moves; a stuck one is not waited for again before it
/// has taken something.
async fn offer(
    tx: &queue::Sender<Message>,
    stuck: &AtomicU64,
    mut message: Message,
    clock: &Clock,
) -> u64 {
    loop {
        message = match tx.try_send(message) {
            Ok(()) | Err(Refused::Closed(_)) => return 0,
            Err(Refused::Full(back)) => back,
        };
        let taken = tx.taken();
        if stuck.load(Relaxed) != taken {
            tokio::select! {
                () = tx.freed() => continue,
                () = clock.sleep_ms(SINK_STUCK_MS) => {}
            }
            if tx.taken() != taken {
                continue;
            }
            stuck.store(taken, Relaxed);
            tracing::error!(
                topic = %message.topic,
                "a subscriber of this memory topic takes nothing: rows for it are dropped"
            );
        }
        return message.rows.len() as u64;
    }
}
