//! What a function may know besides its arguments.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use jiff::tz::TimeZone;
use regex::Regex;
use rekuiper_value::{Error, Result, Value};

/// Times and counters of the row (or emission) an expression is evaluated for; Unix milliseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct RowTimes {
    /// Event timestamp of the row, or arrival.
    pub event: i64,
    pub window_start: Option<i64>,
    pub window_end: Option<i64>,
    pub window_trigger: Option<i64>,
    /// Hits of the rule before this row, and the time of the last (0: none).
    pub hit_count: i64,
    pub hit_time: i64,
    pub agg_hit_count: i64,
    pub agg_hit_time: i64,
}

/// Everything a function may ask for. One per rule, `now` and `row` set anew for each batch or row.
pub struct Cx<'a> {
    /// Now, Unix milliseconds and the nanoseconds within them (from the flow's clock).
    pub now_ms: i64,
    pub rule_id: &'a str,
    /// Start of the rule, Unix milliseconds.
    pub rule_start: i64,
    pub zone: &'a TimeZone,
    pub row: RowTimes,
    pub host: &'a dyn Host,
}

/// Services of the process around a rule.
pub trait Host: Send + Sync {
    /// Keyed state of the installation (get_keyed_state).
    fn keyed_state(&self, key: &str) -> Option<Value>;
    /// A property that the environment gives (props).
    fn prop(&self, name: &str) -> Option<String>;
    /// 64 random bits.
    fn random(&self) -> u64;
    /// Waits (delay).
    fn delay(&self, ms: i64);
}

/// A host without services, for tests and constant folding.
pub struct NoHost;

impl Host for NoHost {
    fn keyed_state(&self, _key: &str) -> Option<Value> {
        None
    }
    fn prop(&self, _name: &str) -> Option<String> {
        None
    }
    fn random(&self) -> u64 {
        0x9e37_79b9_7f4a_7c15
    }
    fn delay(&self, _ms: i64) {}
}

/// Most compiled patterns that are kept; then the store starts anew.
const PATTERNS_MAX: usize = 512;

/// Patterns that a thread finds without the lock. Rules have few, so a short list is searched.
const RECENT_MAX: usize = 8;

static PATTERNS: Mutex<Option<HashMap<String, Arc<Regex>>>> = Mutex::new(None);

thread_local! {
    static RECENT: RefCell<Vec<(String, Arc<Regex>)>> = const { RefCell::new(Vec::new()) };
}

/// The compiled form of a pattern in Go's syntax, kept over calls.
pub fn regex(pattern: &str) -> Result<Arc<Regex>> {
    let recent = RECENT.with_borrow(|list| {
        list.iter()
            .find(|(known, _)| known == pattern)
            .map(|(_, compiled)| compiled.clone())
    });
    if let Some(found) = recent {
        return Ok(found);
    }
    // A clone of its own spares the thread the fight for the scratch space of a shared one.
    let own = Arc::new(Regex::clone(&*shared(pattern)?));
    RECENT.with_borrow_mut(|list| {
        if list.len() >= RECENT_MAX {
            list.remove(0);
        }
        list.push((pattern.to_owned(), own.clone()));
    });
    Ok(own)
}

fn shared(pattern: &str) -> Result<Arc<Regex>> {
    let mut guard = PATTERNS
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner());
    let known = guard.get_or_insert_with(HashMap::new);
    if let Some(found) = known.get(pattern) {
        return Ok(found.clone());
    }
    let made = Regex::new(&crate::pattern::from_go(pattern))
        .map(Arc::new)
        .map_err(|e| Error::new(format!("error parsing regexp {pattern:?}: {e}")))?;
    if known.len() >= PATTERNS_MAX {
        known.clear();
    }
    known.insert(pattern.to_owned(), made.clone());
    Ok(made)
}
