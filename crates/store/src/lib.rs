//! Embedded key-value store of definitions and state.
//!
//! Keys live in namespaces; values are bytes. One thread owns the SQLite connection and takes
//! batches from a bounded queue, so no caller ever waits for a lock inside SQLite. A batch is all
//! or nothing. Batches that wait together share one transaction and one disk flush; when that
//! transaction fails each batch is tried alone, so that nobody pays for the fault of another.
//!
//! What an answer means: the journal is a write-ahead log. With [`Durability::Power`] the log is
//! flushed to the disk before a write is answered, so an acknowledged write survives both the death
//! of the process and the loss of power. With [`Durability::Process`] it survives the death of the
//! process (`kill -9`), and a power cut may take the last moments but never leaves half a batch.
//!
//! This crate does not know what streams, rules or checkpoints are. It knows one foreign thing: how
//! to read the data folder of an eKuiper server ([`import_ekuiper`]).

mod batch;
mod error;
pub mod gob;
pub mod import_ekuiper;
mod worker;

pub use batch::{Batch, Op};
pub use error::StoreError;

use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Batches that may wait for the worker; further callers block.
pub const QUEUE: usize = 1024;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// An answered write survives `kill -9`.
    Process,
    /// An answered write survives a power cut as well.
    Power,
}

/// A handle; clones share the store. The last one to go closes the file.
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

struct Inner {
    queue: Option<SyncSender<worker::Job>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Inner {
    fn drop(&mut self) {
        // The worker ends when its queue has no sender left, after all that waits is written.
        self.queue = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

pub type Answer<T> = Box<dyn FnOnce(Result<T, StoreError>) + Send>;

impl Store {
    /// Opens or makes the file.
    pub fn open(path: &Path, durability: Durability) -> Result<Store, StoreError> {
        let connection = worker::open(path, durability)?;
        let (queue, jobs) = sync_channel(QUEUE);
        let thread = std::thread::Builder::new()
            .name("store".into())
            .spawn(move || worker::run(connection, jobs))
            .map_err(|e| StoreError::Thread(e.to_string()))?;
        Ok(Store {
            inner: Arc::new(Inner {
                queue: Some(queue),
                thread: Some(thread),
            }),
        })
    }

    fn send(&self, job: worker::Job) -> Result<(), StoreError> {
        match &self.inner.queue {
            Some(queue) => queue.send(job).map_err(|_| StoreError::Closed),
            None => Err(StoreError::Closed),
        }
    }

    /// Writes all of the batch or nothing, and answers when it is kept.
    pub fn write(&self, batch: Batch) -> Result<(), StoreError> {
        let (tx, rx) = sync_channel(1);
        self.submit(
            batch,
            Box::new(move |r| {
                let _ = tx.send(r);
            }),
        );
        rx.recv().map_err(|_| StoreError::Closed)?
    }

    /// Like [`write`](Store::write) without waiting; `done` is called by the worker's thread.
    pub fn submit(&self, batch: Batch, done: Answer<()>) {
        let closed = worker::Job::Write(batch, done);
        if let Err(_closed) = self.send(closed) {
            // The job, and `done` with it, is dropped: a waiter sees its channel close.
        }
    }

    pub fn get(&self, space: &str, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let (tx, rx) = sync_channel(1);
        let done = Box::new(move |r| {
            let _ = tx.send(r);
        });
        self.send(worker::Job::Get(space.into(), key.into(), done))?;
        rx.recv().map_err(|_| StoreError::Closed)?
    }

    /// All entries of a namespace, by key.
    pub fn scan(&self, space: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
        let (tx, rx) = sync_channel(1);
        let done = Box::new(move |r| {
            let _ = tx.send(r);
        });
        self.send(worker::Job::Scan(space.into(), done))?;
        rx.recv().map_err(|_| StoreError::Closed)?
    }
}
