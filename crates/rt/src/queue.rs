//! Bounded queues between tasks, counted in rows and bytes.
//!
//! A queue has a name and two bounds. A sender may wait for room ([`Sender::send`]), try
//! ([`Sender::try_send`]) or push the oldest items out ([`Sender::send_dropping`]), whose rows are
//! counted. An item larger than a bound passes when the queue is empty, so nothing can hang.
//! Cost per item: one short lock; items are batches, so rows pay nothing.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};

use tokio::sync::Notify;

/// What a queue counts of an item.
pub trait Weight {
    fn rows(&self) -> usize;
    fn bytes(&self) -> usize;
}

struct State<T> {
    items: VecDeque<T>,
    rows: usize,
    bytes: usize,
    senders: usize,
    receiver: bool,
}

struct Shared<T> {
    name: Box<str>,
    rows_max: usize,
    bytes_max: usize,
    state: Mutex<State<T>>,
    filled: Notify,
    freed: Notify,
    taken: AtomicU64,
    dropped_rows: AtomicU64,
}

impl<T> Shared<T> {
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }
}

impl<T: Weight> Shared<T> {
    fn take(&self) -> Option<T> {
        let mut state = self.lock();
        let item = state.items.pop_front()?;
        state.rows -= item.rows();
        state.bytes -= item.bytes();
        drop(state);
        self.taken.fetch_add(1, Relaxed);
        self.freed.notify_waiters();
        self.freed.notify_one();
        Some(item)
    }
}

/// The receiver is gone; the item comes back.
#[derive(Debug)]
pub struct Closed<T>(pub T);

/// Why `try_send` did not.
#[derive(Debug)]
pub enum Refused<T> {
    Full(T),
    Closed(T),
}

pub struct Sender<T>(Arc<Shared<T>>);
pub struct Receiver<T>(Arc<Shared<T>>);

/// A view of a queue for status and metrics.
pub struct Gauge<T>(Arc<Shared<T>>);

/// Makes a queue.
pub fn bounded<T: Weight>(
    name: impl Into<Box<str>>,
    rows_max: usize,
    bytes_max: usize,
) -> (Sender<T>, Receiver<T>) {
    let shared = Arc::new(Shared {
        name: name.into(),
        rows_max,
        bytes_max,
        state: Mutex::new(State {
            items: VecDeque::new(),
            rows: 0,
            bytes: 0,
            senders: 1,
            receiver: true,
        }),
        filled: Notify::new(),
        freed: Notify::new(),
        taken: AtomicU64::new(0),
        dropped_rows: AtomicU64::new(0),
    });
    (Sender(shared.clone()), Receiver(shared))
}

impl<T: Weight> Sender<T> {
    /// Puts the item in when there is room.
    pub fn try_send(&self, item: T) -> Result<(), Refused<T>> {
        let mut state = self.0.lock();
        if !state.receiver {
            return Err(Refused::Closed(item));
        }
        let (rows, bytes) = (item.rows(), item.bytes());
        let fits = state.items.is_empty()
            || (state.rows + rows <= self.0.rows_max && state.bytes + bytes <= self.0.bytes_max);
        if !fits {
            return Err(Refused::Full(item));
        }
        state.rows += rows;
        state.bytes += bytes;
        state.items.push_back(item);
        drop(state);
        self.0.filled.notify_one();
        Ok(())
    }

    /// Waits for room.
    pub async fn send(&self, mut item: T) -> Result<(), Closed<T>> {
        loop {
            let freed = self.0.freed.notified();
            match self.try_send(item) {
                Ok(()) => return Ok(()),
                Err(Refused::Closed(back)) => return Err(Closed(back)),
                Err(Refused::Full(back)) => item = back,
            }
            freed.await;
        }
    }

    /// Puts the item in, pushing out the oldest ones where there is no room. Returns the rows that
    /// were pushed out.
    pub fn send_dropping(&self, mut item: T) -> Result<u64, Closed<T>> {
        let mut dropped = 0;
        loop {
            match self.try_send(item) {
                Ok(()) => {
                    self.0.dropped_rows.fetch_add(dropped, Relaxed);
                    return Ok(dropped);
                }
                Err(Refused::Closed(back)) => return Err(Closed(back)),
                Err(Refused::Full(back)) => {
                    item = back;
                    let mut state = self.0.lock();
                    if let Some(old) = state.items.pop_front() {
                        state.rows -= old.rows();
                        state.bytes -= old.bytes();
                        dropped += old.rows() as u64;
                    }
                }
            }
        }
    }

    /// Items taken by the receiver so far: whoever waits can see whether it still moves.
    pub fn taken(&self) -> u64 {
        self.0.taken.load(Relaxed)
    }

    pub fn gauge(&self) -> Gauge<T> {
        Gauge(self.0.clone())
    }

    /// Waits until something was taken or dropped.
    pub async fn freed(&self) {
        self.0.freed.notified().await;
    }

    /// Waits until the receiver is gone.
    pub async fn closed(&self) {
        loop {
            let freed = self.0.freed.notified();
            if !self.0.lock().receiver {
                return;
            }
            freed.await;
        }
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Self {
        self.0.lock().senders += 1;
        Sender(self.0.clone())
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        let mut state = self.0.lock();
        state.senders -= 1;
        if state.senders == 0 {
            drop(state);
            self.0.filled.notify_one();
        }
    }
}

impl<T: Weight> Receiver<T> {
    /// The next item, if there is one.
    pub fn try_recv(&mut self) -> Option<T> {
        self.0.take()
    }

    pub fn is_empty(&self) -> bool {
        self.0.lock().items.is_empty()
    }

    /// Calls `visit` for everything that waits. What it weighs must not change.
    pub fn each(&mut self, visit: impl FnMut(&mut T)) {
        self.0.lock().items.iter_mut().for_each(visit);
    }

    /// Waits for the next item; `None` when all senders are gone and nothing is left.
    pub async fn recv(&mut self) -> Option<T> {
        loop {
            let filled = self.0.filled.notified();
            if let Some(item) = self.0.take() {
                return Some(item);
            }
            if self.0.lock().senders == 0 {
                return self.0.take();
            }
            filled.await;
        }
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        let items = {
            let mut state = self.0.lock();
            state.receiver = false;
            state.rows = 0;
            state.bytes = 0;
            std::mem::take(&mut state.items)
        };
        drop(items);
        self.0.freed.notify_waiters();
    }
}

impl<T> Gauge<T> {
    pub fn name(&self) -> &str {
        &self.0.name
    }

    /// Rows waiting now.
    pub fn rows(&self) -> usize {
        self.0.lock().rows
    }

    /// Rows pushed out so far.
    pub fn dropped_rows(&self) -> u64 {
        self.0.dropped_rows.load(Relaxed)
    }
}

impl<T> Clone for Gauge<T> {
    fn clone(&self) -> Self {
        Gauge(self.0.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Item(usize);
    impl Weight for Item {
        fn rows(&self) -> usize {
            self.0
        }
        fn bytes(&self) -> usize {
            self.0 * 10
        }
    }

    #[tokio::test]
    async fn waits_for_room_and_keeps_order() {
        let (tx, mut rx) = bounded::<Item>("t", 3, 1000);
        tx.try_send(Item(2)).unwrap();
        assert!(matches!(tx.try_send(Item(2)), Err(Refused::Full(_))));
        let sender = tokio::spawn({
            let tx = tx.clone();
            async move { tx.send(Item(3)).await.is_ok() }
        });
        assert_eq!(rx.recv().await.unwrap().0, 2);
        assert_eq!(rx.recv().await.unwrap().0, 3);
        assert!(sender.await.unwrap());
        drop(tx);
        assert!(rx.recv().await.is_none());
    }

    #[tokio::test]
    async fn drops_oldest_and_counts() {
        let (tx, mut rx) = bounded::<Item>("t", 4, 1000);
        for n in [1, 2, 3] {
            tx.send_dropping(Item(n)).unwrap();
        }
        assert_eq!(tx.gauge().dropped_rows(), 3);
        assert_eq!(rx.try_recv().unwrap().0, 3);
        tx.try_send(Item(99)).unwrap(); // larger than the bound, but alone
        drop(rx);
        assert!(matches!(tx.try_send(Item(1)), Err(Refused::Closed(_))));
    }
}
