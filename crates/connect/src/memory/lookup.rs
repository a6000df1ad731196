//! The lookup table: the last row of each value of KEY.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use rekuiper_value::{Object, Str, Value};

use super::{Message, RowKind, Subscription};
use crate::traits::{BoxFuture, Lookup, Opened, SourceCx};
use crate::{ConnectError, Props};

pub fn open(datasource: &str, key: &str, _props: &Props) -> Result<Opened, ConnectError> {
    if key.is_empty() {
        return Err(ConnectError::config(
            "Option \"key\" is required for memory lookup table: the column that tells rows apart",
        ));
    }
    let table = Arc::new(Table { key: key.into(), rows: Mutex::default() });
    let filter = super::source::filter(datasource, "lookup table")?;
    Ok(Opened::Lookup(Arc::new(MemoryLookup { filter, table, feed: OnceLock::new() })))
}

struct MemoryLookup {
    filter: Str,
    table: Arc<Table>,
    feed: OnceLock<Subscription>,
}

struct Table {
    key: Str,
    rows: Mutex<HashMap<Key, Arc<Object>>>,
}

impl Table {
    fn take(&self, message: &Message) {
        let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        for row in message.rows.iter() {
            let (kind, value) = match &row.change {
                Some((kind, value)) => (*kind, value),
                None => (RowKind::Upsert, row.data.get(&self.key).unwrap_or(&Value::Missing)),
            };
            let Some(key) = Key::of(value) else { continue };
            match kind {
                RowKind::Delete => rows.remove(&key),
                _ => rows.insert(key, row.data.clone()),
            };
        }
    }

    fn find(&self, keys: &[(Str, Value)]) -> Vec<Arc<Object>> {
        let rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
        let fits = |row: &Arc<Object>| matches(row, keys);
        match keys.iter().find(|(name, _)| *name == self.key) {
            Some((_, value)) => {
                let row = Key::of(value).and_then(|key| rows.get(&key));
                row.filter(|r| fits(r)).cloned().into_iter().collect()
            }
            None => rows.values().filter(|r| fits(r)).cloned().collect(),
        }
    }
}

/// Whether a row's columns have these values, compared by type and value: null matches nothing.
pub fn matches(row: &Object, keys: &[(Str, Value)]) -> bool {
    keys.iter().all(|(name, want)| {
        row.get(name).is_some_and(|have| match (Key::of(have), Key::of(want)) {
            (Some(have), Some(want)) => have == want,
            _ => false,
        })
    })
}

/// A value that can be looked up.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Bool(bool),
    Int(i64),
    /// Bits of a double.
    Float(u64),
    /// A whole number of a schemaless stream that no double holds.
    Wide(i64),
    Str(Str),
    /// Anything else by its kind and text.
    Other(&'static str, Str),
}

impl Key {
    fn of(value: &Value) -> Option<Key> {
        Some(match value {
            Value::Missing | Value::Null => return None,
            Value::Bool(b) => Key::Bool(*b),
            Value::Int(i) => Key::Int(*i),
            Value::Float(f) if *f == 0.0 => Key::Float(0), // both zeros
            Value::Float(f) => Key::Float(f.to_bits()),
            Value::Wide(i) => Key::Wide(*i),
            Value::Str(s) => Key::Str(s.clone()),
            other => Key::Other(other.kind_name(), rekuiper_value::text::render(other)),
        })
    }
}

impl Lookup for MemoryLookup {
    fn open<'a>(&'a self, cx: &'a SourceCx) -> BoxFuture<'a, Result<(), ConnectError>> {
        self.feed.get_or_init(|| {
            let table = self.table.clone();
            cx.services.memory.tell(&self.filter, move |message| table.take(message))
        });
        cx.status.connected(cx.clock.now_ms());
        Box::pin(async { Ok(()) })
    }

    fn find<'a>(
        &'a self,
        keys: &'a [(Str, Value)],
    ) -> BoxFuture<'a, Result<Vec<Arc<Object>>, ConnectError>> {
        let found = self.table.find(keys);
        Box::pin(async move { Ok(found) })
    }

    fn find_now(&self, keys: &[(Str, Value)]) -> Option<Vec<Arc<Object>>> {
        Some(self.table.find(keys))
    }
}
