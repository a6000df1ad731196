//! Tasks in the background that clients can ask about.

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard};

use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::task::AbortHandle;

use crate::error::ApiResult;

/// The oldest are forgotten beyond this.
const MOST: usize = 100;

struct Task {
    status: &'static str,
    message: String,
    created: i64,
    updated: i64,
    handle: Option<AbortHandle>,
}

type All = BTreeMap<String, Task>;

#[derive(Default)]
pub struct Tasks {
    all: Arc<Mutex<All>>,
}

fn lock(all: &Mutex<All>) -> MutexGuard<'_, All> {
    all.lock().unwrap_or_else(|e| e.into_inner())
}

impl Tasks {
    /// Starts work and gives its id: the kind and the second, made unique.
    pub fn start<F>(&self, kind: &str, work: F) -> String
    where
        F: Future<Output = ApiResult<()>> + Send + 'static,
    {
        let now = Timestamp::now();
        let mut all = lock(&self.all);
        let mut second = now.as_second();
        while all.contains_key(&format!("{kind}-{second}")) {
            second += 1;
        }
        let id = format!("{kind}-{second}");
        while all.len() >= MOST {
            let oldest = all
                .iter()
                .min_by_key(|(_, t)| t.created)
                .map(|(id, _)| id.clone());
            let Some(oldest) = oldest else { break };
            all.remove(&oldest);
        }
        let ms = now.as_millisecond();
        let task = Task {
            status: "running",
            message: String::new(),
            created: ms,
            updated: ms,
            handle: None,
        };
        all.insert(id.clone(), task);
        let (done, own) = (self.all.clone(), id.clone());
        let handle = tokio::spawn(async move {
            let (status, message) = match work.await {
                Ok(()) => ("finish", String::new()),
                Err(e) => ("error", e.message),
            };
            set(&done, &own, status, message);
        });
        if let Some(task) = all.get_mut(&id) {
            task.handle = Some(handle.abort_handle());
        }
        id
    }

    pub fn get(&self, id: &str) -> Option<Value> {
        let all = lock(&self.all);
        let t = all.get(id)?;
        Some(json!({
            "id": id,
            "status": t.status,
            "message": t.message,
            "createdTimestamp": t.created,
            "updatedTimestamp": t.updated,
        }))
    }

    /// Whether there is such a task. One that is over stays as it is.
    pub fn cancel(&self, id: &str) -> bool {
        let handle = match lock(&self.all).get(id) {
            None => return false,
            Some(t) if t.status != "running" => return true,
            Some(t) => t.handle.clone(),
        };
        if let Some(handle) = handle {
            handle.abort();
        }
        set(&self.all, id, "cancel", String::new());
        true
    }
}

fn set(all: &Mutex<All>, id: &str, status: &'static str, message: String) {
    if let Some(t) = lock(all).get_mut(id).filter(|t| t.status == "running") {
        t.status = status;
        t.message = message;
        t.updated = Timestamp::now().as_millisecond();
    }
}
