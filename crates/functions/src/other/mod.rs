//! What a rule knows of itself, of its rows and of the process around it, and functions that fit
//! nowhere else.

use crate::registry::functions;

functions! {
    bypass, coalesce, dedup_trigger, delay, event_time, get_keyed_state, isnull,
    last_agg_hit_count, last_agg_hit_time, last_hit_count, last_hit_time, meta, mqtt, newuuid,
    props, rule_id, rule_start, tstamp, window_end, window_start, window_trigger,
}
