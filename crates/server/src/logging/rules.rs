//! Rules with a log of their own (option `logFilename`): what is said of such a rule goes into
//! `log/NAME`, a link to the newest of its files, and not into the server's log.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{PoisonError, RwLock};

/// File name by rule. One for the process, as its log is.
static NAMES: RwLock<Option<HashMap<String, String>>> = RwLock::new(None);

/// From now on a rule's lines go into a file of that name; none: into the server's log.
pub fn set(rule: &str, name: &str) {
    // of a path only the last part counts: nothing is written outside the folder of logs
    let plain = Path::new(name).file_name().and_then(|n| n.to_str()).unwrap_or_default();
    if plain.starts_with("stream.") {
        tracing::warn!("rule {rule}: logFilename {plain} is a name of the server's own log");
    }
    let mut names = NAMES.write().unwrap_or_else(PoisonError::into_inner);
    if plain.is_empty() || plain.starts_with("stream.") {
        if let Some(names) = &mut *names {
            names.remove(rule);
        }
        return;
    }
    names.get_or_insert_default().insert(rule.to_owned(), plain.to_owned());
}

pub fn of(rule: &str) -> Option<String> {
    NAMES.read().unwrap_or_else(PoisonError::into_inner).as_ref()?.get(rule).cloned()
}
