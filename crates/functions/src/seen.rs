//! A set of values with the equality of [`Value`]: numbers by value over all kinds, null a value
//! like any other. Large arrays stay linear.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hash, Hasher};

use rekuiper_value::Value;

/// See the module's doc.
#[derive(Default)]
pub(crate) struct Seen {
    by_hash: HashMap<u64, Vec<Value>, ahash::RandomState>,
}

impl Seen {
    pub(crate) fn of(values: &[Value]) -> Self {
        let mut seen = Seen::default();
        for value in values {
            seen.insert(value);
        }
        seen
    }

    /// True where the value was not there before.
    pub(crate) fn insert(&mut self, value: &Value) -> bool {
        let hash = self.hash(value);
        let same = self.by_hash.entry(hash).or_default();
        if same.contains(value) {
            return false;
        }
        same.push(value.clone());
        true
    }

    pub(crate) fn contains(&self, value: &Value) -> bool {
        self.by_hash
            .get(&self.hash(value))
            .is_some_and(|same| same.contains(value))
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &Value> {
        self.by_hash.values().flatten()
    }

    fn hash(&self, value: &Value) -> u64 {
        let mut hasher = self.by_hash.hasher().build_hasher();
        hash_value(value, &mut hasher);
        hasher.finish()
    }
}

/// Equal values hash alike: numbers by the double nearest to them.
fn hash_value(value: &Value, hasher: &mut impl Hasher) {
    match value {
        Value::Missing | Value::Null => 0u8.hash(hasher),
        Value::Bool(b) => (1u8, b).hash(hasher),
        Value::Int(i) | Value::Wide(i) => hash_number(*i as f64, hasher),
        Value::Float(f) => hash_number(*f, hasher),
        Value::Str(s) => (3u8, s.as_str()).hash(hasher),
        Value::Bytes(b) => (4u8, b).hash(hasher),
        Value::Array(items) => {
            (5u8, items.len()).hash(hasher);
            items.iter().for_each(|v| hash_value(v, hasher));
        }
        Value::Object(members) => {
            (6u8, members.len()).hash(hasher);
            for (key, member) in members.iter() {
                key.as_str().hash(hasher);
                hash_value(member, hasher);
            }
        }
        Value::Time(t) => (7u8, t.timestamp().as_nanosecond()).hash(hasher),
    }
}

fn hash_number(f: f64, hasher: &mut impl Hasher) {
    let f = if f == 0.0 {
        0.0
    } else if f.is_nan() {
        f64::NAN
    } else {
        f
    };
    (2u8, f.to_bits()).hash(hasher);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_all_kinds_are_one() {
        let mut seen = Seen::of(&[Value::Int(1), Value::Float(0.0)]);
        assert!(seen.contains(&Value::Float(1.0)));
        assert!(seen.contains(&Value::Float(-0.0)));
        assert!(!seen.contains(&Value::from("1")));
        assert!(seen.insert(&Value::Wide(9007199254740993)));
        assert!(seen.insert(&Value::Float(9007199254740992.0)));
        assert!(!seen.insert(&Value::Int(9007199254740993)));
    }
}
