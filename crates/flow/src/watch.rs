//! Log lines for what went wrong: once a second, one line for each node of a rule that counted new
//! exceptions, with how many and the last of them. So a flood of bad rows makes one line a second,
//! not one a row, and what the counters say can be found in the log. The same round saves the
//! states of rules that are due.

use std::collections::HashMap;
use std::sync::Weak;
use std::sync::atomic::Ordering::Relaxed;

use crate::Engine;

/// How often it looks, milliseconds.
const LOOK_MS: i64 = 1_000;

/// Runs as long as the engine is there.
pub async fn run(engine: Weak<Engine>) {
    let mut seen: HashMap<(String, String), u64> = HashMap::new();
    loop {
        let Some(clock) = engine.upgrade().map(|e| e.config.clock.clone()) else { return };
        clock.sleep_ms(LOOK_MS).await;
        let Some(engine) = engine.upgrade() else { return };
        engine.checkpoint().await;
        let mut found = HashMap::new();
        engine.each_node(&mut |rule, node| {
            let count = node.stats.exceptions.load(Relaxed);
            if count == 0 {
                return;
            }
            let key = (rule.to_owned(), node.name.to_string());
            let before = seen.get(&key).copied().unwrap_or(0);
            // a rule that was started again counts from 0
            let new = if count >= before { count - before } else { count };
            if new > 0 {
                let (text, _) = node.stats.last_exception().unwrap_or_default();
                let name = &node.name;
                tracing::warn!(rule, node = %name, exceptions = new, "the last one: {text}");
            }
            found.insert(key, count);
        });
        seen = found;
    }
}
