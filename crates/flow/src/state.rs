//! States of rules whose option `qos` is above 0: saved when a rule is stopped and every checkpoint
//! interval, given back at its next start, also of the next process.
//!
//! A state belongs to a statement: after a change of SQL or of the options that change plans a rule
//! begins anew.

use std::hash::{DefaultHasher, Hash, Hasher};

use rekuiper_value::{Value, state};

use crate::RuleSpec;

/// Where states are kept. A write may be late; it must not be half.
pub trait StateStore: Send + Sync {
    fn put(&self, rule: &str, state: Vec<u8>);
    fn get(&self, rule: &str) -> Option<Vec<u8>>;
    fn remove(&self, rule: &str);
}

/// Tells statements apart.
pub fn mark(spec: &RuleSpec) -> u64 {
    let mut hasher = DefaultHasher::new();
    (&spec.sql, spec.plan.is_event_time, spec.plan.late_tolerance_ms).hash(&mut hasher);
    spec.graph.as_ref().map(ToString::to_string).hash(&mut hasher);
    hasher.finish()
}

/// The mark, then the states of the rule's chains; behind them, where there are any, the positions
/// of its sources by name.
pub fn pack(mark: u64, chains: Vec<Value>) -> Vec<u8> {
    let mut bytes = mark.to_le_bytes().to_vec();
    state::encode(&Value::array(chains), &mut bytes);
    bytes
}

/// The states of the chains, where they are of this statement and whole.
pub fn unpack(mark: u64, bytes: &[u8]) -> Vec<Value> {
    let Some((own, rest)) = bytes.split_first_chunk::<8>() else { return Vec::new() };
    if u64::from_le_bytes(*own) != mark {
        return Vec::new();
    }
    match state::decode(rest) {
        Ok(Value::Array(chains)) => chains.to_vec(),
        Ok(_) => Vec::new(),
        Err(error) => {
            tracing::error!("a rule begins anew: {error}");
            Vec::new()
        }
    }
}
