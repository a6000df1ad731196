//! One rule: its definition, its machine, and whose turn it is.

use std::sync::{Arc, Mutex, MutexGuard};

use super::definition::RuleDef;
use super::machine::{Machine, State};

/// One rule as it is known here.
pub struct Rule {
    pub id: String,
    /// Held while something is done with the rule: one thing at a time.
    pub(super) turn: tokio::sync::Mutex<()>,
    inner: Mutex<Inner>,
}

pub(super) struct Inner {
    pub(super) def: Arc<RuleDef>,
    pub(super) machine: Machine,
    /// Names of the streams and tables that the last run reads.
    pub(super) sources: Arc<[String]>,
    pub(super) trace: bool,
    pub(super) ever_started: bool,
    /// Counts runs, so that the end of an old one is told from that of the present one.
    pub(super) run: u64,
}

/// What a rule reads; one list for all rules that read the same one after the other.
pub(super) fn sources(def: &RuleDef) -> Arc<[String]> {
    static LAST: Mutex<Option<Arc<[String]>>> = Mutex::new(None);
    let own = def.sources();
    let mut last = LAST.lock().unwrap_or_else(|e| e.into_inner());
    match &*last {
        Some(known) if **known == *own => known.clone(),
        _ => last.insert(own.into()).clone(),
    }
}

impl Rule {
    pub(super) fn new(def: Arc<RuleDef>) -> Rule {
        let machine = Machine::new(&def);
        if let Some(warning) = machine.warning() {
            tracing::warn!("rule {}: {warning}", def.id);
        }
        Rule {
            id: def.id.clone(),
            turn: tokio::sync::Mutex::new(()),
            inner: Mutex::new(Inner {
                machine,
                sources: sources(&def),
                def,
                trace: false,
                ever_started: false,
                run: 0,
            }),
        }
    }

    pub(super) fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(|e| e.into_inner())
    }

    pub fn def(&self) -> Arc<RuleDef> {
        self.inner().def.clone()
    }

    pub fn machine(&self) -> Machine {
        self.inner().machine.clone()
    }

    pub fn state(&self) -> State {
        self.inner().machine.state
    }

    pub fn traced(&self) -> bool {
        self.inner().trace
    }

    pub fn set_traced(&self, on: bool) {
        self.inner().trace = on;
    }

    pub fn ever_started(&self) -> bool {
        self.inner().ever_started
    }

    /// Whether it runs and reads this stream or table.
    pub fn uses(&self, source: &str) -> bool {
        let inner = self.inner();
        inner.machine.state.is_running() && inner.sources.iter().any(|s| s == source)
    }
}
