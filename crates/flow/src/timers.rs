//! One timer for all rules: wakes whoever is due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::{Arc, Mutex, Weak};

use rekuiper_rt::Clock;
use tokio::sync::Notify;

use crate::rule::RuleCell;

struct Entry {
    at_ms: i64,
    rule: Weak<RuleCell>,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.at_ms == other.at_ms
    }
}
impl Eq for Entry {}
impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.at_ms.cmp(&other.at_ms)
    }
}

/// See the module's doc.
pub struct Timers {
    clock: Clock,
    entries: Mutex<BinaryHeap<Reverse<Entry>>>,
    sooner: Notify,
}

impl Timers {
    pub fn new(clock: Clock) -> Arc<Self> {
        Arc::new(Timers { clock, entries: Mutex::default(), sooner: Notify::new() })
    }

    /// Wakes the rule at `at_ms`.
    pub fn wake(&self, at_ms: i64, rule: Weak<RuleCell>) {
        let mut entries = self.entries.lock().unwrap_or_else(|e| e.into_inner());
        let first = entries.peek().is_none_or(|Reverse(e)| at_ms < e.at_ms);
        entries.push(Reverse(Entry { at_ms, rule }));
        drop(entries);
        if first {
            self.sooner.notify_one();
        }
    }

    fn next(&self) -> Option<i64> {
        let entries = self.entries.lock().unwrap_or_else(|e| e.into_inner());
        entries.peek().map(|Reverse(e)| e.at_ms)
    }

    fn due(&self, now_ms: i64) -> Vec<Weak<RuleCell>> {
        let mut entries = self.entries.lock().unwrap_or_else(|e| e.into_inner());
        let mut due = Vec::new();
        while entries.peek().is_some_and(|Reverse(e)| e.at_ms <= now_ms) {
            if let Some(Reverse(entry)) = entries.pop() {
                due.push(entry.rule);
            }
        }
        due
    }

    /// The timer's task.
    pub async fn run(self: Arc<Self>) {
        loop {
            match self.next() {
                None => self.sooner.notified().await,
                Some(at_ms) => tokio::select! {
                    _ = self.sooner.notified() => {}
                    _ = self.clock.sleep_until(at_ms) => {
                        for rule in self.due(self.clock.now_ms()) {
                            if let Some(rule) = rule.upgrade() {
                                rule.on_time().await;
                            }
                        }
                    }
                },
            }
        }
    }
}
