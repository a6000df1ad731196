//! Starting tasks.

use std::future::Future;

use tokio::task::JoinHandle;

/// A task that ends with its handle: dropping it aborts the task.
pub struct Task(JoinHandle<()>);

impl Task {
    pub fn is_finished(&self) -> bool {
        self.0.is_finished()
    }

    /// Lets the task run on by itself.
    pub fn detach(self) {
        let handle = std::mem::ManuallyDrop::new(self);
        let _ = &handle.0;
    }

    /// Waits for its end.
    pub async fn join(mut self) {
        let _ = (&mut self.0).await;
    }

    pub fn abort(&self) {
        self.0.abort();
    }
}

impl Drop for Task {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Starts a named task. A panic inside is logged under its name; it harms nothing else.
pub fn spawn(
    name: impl Into<String>,
    work: impl Future<Output = ()> + Send + 'static,
) -> Task {
    let name = name.into();
    Task(tokio::spawn(async move {
        // a task of its own, so that a panic is caught and named; ends with the outer one
        let mut inner = Inner(tokio::spawn(work));
        if let Err(error) = (&mut inner.0).await
            && error.is_panic()
        {
            tracing::error!(task = %name, "task ended by a panic: {error}; this is a bug of ours");
        }
    }))
}

struct Inner(JoinHandle<()>);

impl Drop for Inner {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Runs something that blocks the thread, letting other tasks move elsewhere where the runtime has
/// more threads.
pub fn block<T>(work: impl FnOnce() -> T) -> T {
    use tokio::runtime::{Handle, RuntimeFlavor};
    match Handle::try_current().map(|h| h.runtime_flavor()) {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(work),
        _ => work(),
    }
}

/// Waits for a future from code that is not async, where the runtime allows it.
pub fn wait_for<T>(work: impl Future<Output = T>) -> Option<T> {
    use tokio::runtime::{Handle, RuntimeFlavor};
    let handle = Handle::try_current().ok()?;
    match handle.runtime_flavor() {
        RuntimeFlavor::MultiThread => Some(tokio::task::block_in_place(|| handle.block_on(work))),
        _ => None,
    }
}
