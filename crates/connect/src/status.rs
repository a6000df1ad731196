//! How a connection stands; read by rule status, metrics and `GET /connections`.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI8, AtomicI64, Ordering::Relaxed};

/// Times are Unix milliseconds; 0: never.
#[derive(Default)]
pub struct ConnStatus {
    /// 1 connected, 0 connecting or nothing to connect, -1 disconnected.
    state: AtomicI8,
    pub last_connected: AtomicI64,
    pub last_disconnected: AtomicI64,
    pub last_try: AtomicI64,
    message: Mutex<Box<str>>,
}

impl ConnStatus {
    pub fn state(&self) -> i8 {
        self.state.load(Relaxed)
    }

    /// Why it was last disconnected.
    pub fn message(&self) -> Box<str> {
        self.message.lock().unwrap_or_else(|e| e.into_inner()).clone()
    }

    pub fn trying(&self, now_ms: i64) {
        self.last_try.store(now_ms, Relaxed);
        if self.state() != -1 {
            self.state.store(0, Relaxed);
        }
    }

    pub fn connected(&self, now_ms: i64) {
        self.state.store(1, Relaxed);
        self.last_connected.store(now_ms, Relaxed);
    }

    pub fn disconnected(&self, now_ms: i64, why: &str) {
        self.state.store(-1, Relaxed);
        self.last_disconnected.store(now_ms, Relaxed);
        *self.message.lock().unwrap_or_else(|e| e.into_inner()) = why.into();
    }
}
