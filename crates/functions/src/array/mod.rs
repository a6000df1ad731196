//! Functions over arrays. Elements are compared by value: numbers over all their kinds, null equal
//! to null. No function changes its input. Null, missing, `[]` and `{}` give null unless said.

use std::cmp::Ordering;

use rekuiper_value::{Error, Result, Value};

use crate::arguments::compare_numbers;
use crate::registry::functions;

functions! {
    array_cardinality, array_concat, array_contains, array_contains_any, array_create,
    array_distinct, array_except, array_flatten, array_intersect, array_join,
    array_last_position, array_map, array_max, array_min, array_position, array_remove,
    array_shuffle, array_sort, array_union, cardinality, element_at, kvpair_array_to_obj, repeat,
    sequence,
}

/// Longest array that repeat and sequence make: a wrong count must not eat the memory of a gateway.
const MADE_MAX: u64 = 1_000_000;

/// The element that is first by `wanted`: numbers among numbers, or text bytewise among text.
fn extreme(name: &str, items: &[Value], wanted: Ordering) -> Result<Value> {
    let mut best = &Value::Null;
    for item in items.iter().filter(|v| !v.is_null()) {
        let order = match (best, item) {
            (Value::Null, v) if v.is_number() || v.as_str().is_some() => wanted,
            (b, v) if b.is_number() && v.is_number() => compare_numbers(v, b),
            (Value::Str(b), Value::Str(v)) => v.as_str().cmp(b.as_str()),
            (_, v) => {
                return Err(Error::new(format!(
                    "{name}: the elements must be all numbers or all text, found {}",
                    v.kind_name()
                )));
            }
        };
        if order == wanted {
            best = item;
        }
    }
    Ok(best.clone())
}
