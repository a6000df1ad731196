//! What was last seen under a name, and whether it differs now.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use rekuiper_value::{Str, Value};

/// Last values by name. Before its first value a name holds null.
#[derive(Default)]
pub(super) struct Changes(BTreeMap<Str, Value>);

impl Changes {
    /// Notes the value; true where it differs from the last. With `ignore_null` a null is not
    /// noted and is no change.
    pub(super) fn note(&mut self, name: &Str, value: &Value, ignore_null: bool) -> bool {
        let value = if value.is_null() { &Value::Null } else { value };
        if ignore_null && value.is_null() {
            return false;
        }
        match self.0.entry(name.clone()) {
            Entry::Vacant(slot) => {
                slot.insert(value.clone());
                !value.is_null()
            }
            Entry::Occupied(mut slot) => {
                let changed = slot.get() != value;
                if changed {
                    slot.insert(value.clone());
                }
                changed
            }
        }
    }

    /// Notes the pairs `[name, value]` of a row (an object stands for its members) and tells each
    /// that changed. A name known from
    /// earlier rows that this row does not have counts as null. Pairs of one name (expressions
    /// without alias) are kept apart.
    pub(super) fn pairs(
        &mut self,
        pairs: &[Value],
        ignore_null: bool,
        mut changed: impl FnMut(&str, &Value),
    ) {
        let mut here: BTreeMap<Str, (&str, &Value)> = BTreeMap::new();
        let mut put = |name: &'_ Str, shown, value| {
            let mut key = name.clone();
            while here.contains_key(&key) {
                key.push('\0');
            }
            here.insert(key, (shown, value));
        };
        for pair in pairs {
            match pair {
                Value::Array(pair) => {
                    if let [Value::Str(name), value] = pair.as_slice() {
                        put(name, name.as_str(), value);
                    }
                }
                Value::Object(row) => row.iter().for_each(|(k, v)| put(k, k.as_str(), v)),
                _ => {}
            }
        }
        if !ignore_null {
            let gone: Vec<Str> = self
                .0
                .keys()
                .filter(|k| !here.contains_key(*k))
                .cloned()
                .collect();
            for key in gone {
                if self.note(&key, &Value::Null, false) {
                    changed(key.trim_end_matches('\0'), &Value::Null);
                }
            }
        }
        for (key, (name, value)) in here {
            if self.note(&key, value, ignore_null) {
                changed(name, value);
            }
        }
    }

    pub(super) fn save(&self) -> Value {
        Value::object(self.0.clone())
    }

    pub(super) fn load(&mut self, state: &Value) {
        self.0 = state
            .as_object()
            .map(|o| o.as_ref().clone())
            .unwrap_or_default();
    }
}
