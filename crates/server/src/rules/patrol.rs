//! The task that lets time go on for the rules.

use std::sync::Arc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

use super::machine::Fact;
use super::manager::Rules;
use super::rule::Rule;
use crate::error::ApiResult;

impl Rules {
    /// Lets time go on for all rules, for ever.
    pub async fn patrol(self: Arc<Self>) {
        let period = self.catalog.config.basic.patrol_ms;
        let mut next_patrol = (self.clock)() + period;
        loop {
            let now = (self.clock)();
            let zone = self.zone();
            let wake = |r: &Arc<Rule>| r.inner().machine.wake_at(now, &zone);
            let soonest = self.all().iter().filter_map(wake).min().unwrap_or(i64::MAX);
            let pause = soonest
                .min(next_patrol)
                .saturating_sub(now)
                .clamp(10, period) as u64;
            tokio::select! {
                _ = tokio::time::sleep(Duration::from_millis(pause)) => {}
                // Something changed: look again when to wake, but not more than so often.
                _ = self.changed.notified() => {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                    continue;
                }
            }
            let now = (self.clock)();
            let patrol = now >= next_patrol;
            if patrol {
                next_patrol = now + period;
            }
            self.tick(patrol).await;
        }
    }

    async fn tick(self: &Arc<Self>, patrol: bool) {
        // Side by side: one that takes long to stop must not hold up the others.
        let all = self.all();
        let ticks = all.iter().map(|rule| self.tick_one(rule, patrol));
        ticks.collect::<FuturesUnordered<_>>().collect::<()>().await;
    }

    async fn tick_one(self: &Arc<Self>, rule: &Arc<Rule>, patrol: bool) {
        // A rule that is being changed is left for the next time.
        let Ok(_turn) = rule.turn.try_lock() else {
            return;
        };
        if let Err(e) = self.feed_quietly(rule, Fact::Tick { patrol }).await {
            tracing::error!("rule {}: {e}", rule.id);
        }
    }

    /// As `feed`, without waking the patrol when nothing happens.
    async fn feed_quietly(self: &Arc<Self>, rule: &Arc<Rule>, fact: Fact) -> ApiResult<()> {
        let mut probe = rule.machine();
        if probe
            .step(fact.clone(), (self.clock)(), &self.zone())
            .is_empty()
        {
            return Ok(());
        }
        self.feed(rule, fact).await
    }
}
