//! What a node counts. Written once a batch, read by the status endpoint.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};

/// Text and time (Unix milliseconds) of an exception.
type Exception = (Box<str>, i64);

/// Counters under eKuiper's metric names.
#[derive(Default)]
pub struct NodeStats {
    pub records_in: AtomicU64,
    pub records_out: AtomicU64,
    pub exceptions: AtomicU64,
    /// Unix milliseconds.
    pub last_invocation: AtomicI64,
    // behind a pointer: most nodes have none, and there are many nodes
    last_exception: Mutex<Option<Box<Exception>>>,
}

impl NodeStats {
    pub fn add_in(&self, rows: u64, now_ms: i64) {
        self.records_in.fetch_add(rows, Relaxed);
        self.last_invocation.store(now_ms, Relaxed);
    }

    pub fn add_out(&self, rows: u64) {
        self.records_out.fetch_add(rows, Relaxed);
    }

    pub fn exception(&self, text: &str, now_ms: i64) {
        self.exceptions.fetch_add(1, Relaxed);
        let mut last = self.last_exception.lock().unwrap_or_else(|e| e.into_inner());
        *last = Some(Box::new((text.into(), now_ms)));
    }

    /// Several at once: rows that were dropped together.
    pub fn exceptions_of(&self, count: u64, text: &str, now_ms: i64) {
        if count > 0 {
            self.exceptions.fetch_add(count - 1, Relaxed);
            self.exception(text, now_ms);
        }
    }

    /// Text and time of the last exception.
    pub fn last_exception(&self) -> Option<(Box<str>, i64)> {
        let last = self.last_exception.lock().unwrap_or_else(|e| e.into_inner());
        last.as_deref().cloned()
    }
}
