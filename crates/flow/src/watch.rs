//! Log lines for what went wrong: once a second, one line for each node that counted new
//! exceptions, with how many and the last of them. So a flood of bad rows makes one line a second,
//! not one a row, and what the counters say can be found in the log. A node that many rules share
//! (the source of a shared stream) makes one line, not one a rule. The same round saves the states
//! of rules that are due.

use std::collections::HashMap;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::Weak;

use crate::Engine;
use crate::metrics::Node;

/// How often it looks, milliseconds.
const LOOK_MS: i64 = 1_000;

/// Runs as long as the engine is there.
pub async fn run(engine: Weak<Engine>) {
    let mut seen = Seen::default();
    loop {
        let Some(clock) = engine.upgrade().map(|e| e.config.clock.clone()) else { return };
        clock.sleep_ms(LOOK_MS).await;
        let Some(engine) = engine.upgrade() else { return };
        engine.checkpoint().await;
        let mut round = seen.round();
        engine.each_node(&mut |rule, name, node| {
            if let Some(new) = round.since(node) {
                let (text, _) = node.stats().last_exception().unwrap_or_default();
                tracing::warn!(rule, node = %name, exceptions = new, "the last one: {text}");
            }
        });
        seen = round.end();
    }
}

/// What has been counted, by the address of the counters; they are held, so that no others are put
/// there.
#[derive(Default)]
struct Seen(HashMap<usize, (Node, u64)>);

#[derive(Default)]
struct Round {
    before: Seen,
    now: Seen,
}

impl Seen {
    fn round(self) -> Round {
        Round { before: self, now: Seen::default() }
    }
}

impl Round {
    /// How many exceptions have come since the last round; `None` where there are none, and for
    /// counters that were asked for in this round already.
    fn since(&mut self, node: &Node) -> Option<u64> {
        let stats = node.stats();
        let count = stats.exceptions.load(Relaxed);
        let at = std::ptr::from_ref(stats) as usize;
        if count == 0 || self.now.0.contains_key(&at) {
            return None;
        }
        let before = self.before.0.get(&at).map_or(0, |(_, count)| *count);
        self.now.0.insert(at, (node.clone(), count));
        // counters may be set back to 0
        let new = if count >= before { count - before } else { count };
        (new > 0).then_some(new)
    }

    fn end(self) -> Seen {
        self.now
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rekuiper_ops::NodeStats;

    use super::*;

    #[test]
    fn what_rules_share_is_told_once_a_round() {
        let [shared, own] = [(); 2].map(|()| Node::Op(Arc::new(NodeStats::default())));
        shared.stats().exceptions_of(3, "the broker is away", 1);
        let mut round = Seen::default().round();
        let told = [&shared, &shared, &own].map(|stats| round.since(stats));
        assert_eq!(told, [Some(3), None, None]);
        shared.stats().exceptions_of(2, "the broker is away", 2);
        own.stats().exception("a bad row", 2);
        let mut round = round.end().round();
        let told = [&shared, &own, &shared].map(|stats| round.since(stats));
        assert_eq!(told, [Some(2), Some(1), None]);
        let mut round = round.end().round();
        assert_eq!([&shared, &own].map(|stats| round.since(stats)), [None, None]);
    }
}
