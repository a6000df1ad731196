//! Trial runs that are prepared or under way.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use tokio::sync::mpsc;

use crate::data_server::{DataServer, Events, Registration};
use crate::engine::{RuleEngine, TrialDef, TrialRun};
use crate::error::{ApiError, ApiResult};

/// A run ends by itself after this.
const LIFE: Duration = Duration::from_secs(300);
/// Trials at the same time; further ones are refused.
const MOST: usize = 100;
/// Results that wait for being sent.
const QUEUE: usize = 256;

struct Trial {
    def: TrialDef,
    events: Events,
    _path: Registration,
    /// The run and the task that carries its results.
    run: Option<(Box<dyn TrialRun>, tokio::task::JoinHandle<()>)>,
    /// Told apart from a later one of the same name.
    number: u64,
}

impl Drop for Trial {
    fn drop(&mut self) {
        if let Some((_, task)) = &self.run {
            task.abort();
        }
    }
}

#[derive(Default)]
struct All {
    by_id: BTreeMap<String, Trial>,
    next: u64,
}

#[derive(Default)]
pub struct Trials {
    all: Arc<Mutex<All>>,
}

fn lock(all: &Mutex<All>) -> MutexGuard<'_, All> {
    all.lock().unwrap_or_else(|e| e.into_inner())
}

impl Trials {
    /// Prepares a run; an older one of the same name ends.
    pub fn create(&self, data: &DataServer, def: TrialDef) -> ApiResult<()> {
        let mut all = lock(&self.all);
        drop(all.by_id.remove(&def.id));
        if all.by_id.len() >= MOST {
            return Err(ApiError::bad(format!(
                "{MOST} trial runs are there already, end some first"
            )));
        }
        let path = format!("/test/{}", def.id);
        let (events, registration) = data.events(&path).map_err(ApiError::bad)?;
        all.next += 1;
        let (id, number) = (def.id.clone(), all.next);
        let trial = Trial {
            def,
            events,
            _path: registration,
            run: None,
            number,
        };
        all.by_id.insert(id.clone(), trial);
        let weak = Arc::downgrade(&self.all);
        tokio::spawn(async move {
            tokio::time::sleep(LIFE).await;
            let Some(all) = weak.upgrade() else { return };
            let mut all = lock(&all);
            if all.by_id.get(&id).is_some_and(|t| t.number == number) {
                all.by_id.remove(&id);
            }
        });
        Ok(())
    }

    pub async fn start(&self, engine: &dyn RuleEngine, id: &str) -> ApiResult<()> {
        let (def, events, number) = {
            let all = lock(&self.all);
            let trial = all.by_id.get(id);
            let trial =
                trial.ok_or_else(|| ApiError::bad(format!("trial run {id} does not exist")))?;
            (trial.def.clone(), trial.events.clone(), trial.number)
        };
        let (tx, mut rx) = mpsc::channel(QUEUE);
        let run = engine.start_trial(def, tx).await?;
        let task = tokio::spawn(async move {
            while let Some(result) = rx.recv().await {
                events.send(result);
            }
        });
        let mut all = lock(&self.all);
        match all.by_id.get_mut(id).filter(|t| t.number == number) {
            Some(trial) => {
                if let Some((_, old)) = trial.run.replace((run, task)) {
                    old.abort();
                }
            }
            None => task.abort(),
        }
        Ok(())
    }

    pub fn delete(&self, id: &str) {
        drop(lock(&self.all).by_id.remove(id));
    }
}
