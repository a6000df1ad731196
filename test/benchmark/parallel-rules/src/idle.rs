//! Rules that have nothing to do: how long it takes to create them, and what one costs in memory.

use std::path::Path;
use std::time::Duration;

use iotrunner::sample;

use crate::engine::Engine;
use crate::feed::Feed;

pub struct Idle {
    pub rules: u64,
    pub created_s: f64,
    pub anon_before_kib: u64,
    pub anon_after_kib: u64,
}

impl Idle {
    pub fn bytes_a_rule(&self) -> f64 {
        let kib = self.anon_after_kib.saturating_sub(self.anon_before_kib);
        kib as f64 * 1024.0 / self.rules.max(1) as f64
    }
}

pub fn run(
    program: &Path,
    core: Option<usize>,
    work: &Path,
    rules: u64,
    connections: usize,
) -> Result<Idle, String> {
    let feed = Feed::start()?;
    let mut engine = Engine::start(program, core, work)?;
    engine.stream(feed.port)?;
    let body = |rule: u64| {
        serde_json::json!({
            "id": format!("idle{rule}"),
            "sql": format!("SELECT id, device, temp FROM telem WHERE temp > {rule}"),
            "actions": [{"nop": {}}],
        })
        .to_string()
    };
    // the first rule brings the stream to life: what that costs is no rule's
    engine.create(&[body(rules)], 1)?;
    std::thread::sleep(Duration::from_secs(1));
    let pid = engine.process.pid();
    let anon_before_kib = sample::anonymous_kib(pid).unwrap_or(0);
    let bodies: Vec<String> = (0..rules).map(body).collect();
    let created_s = engine.create(&bodies, connections)?;
    std::thread::sleep(Duration::from_secs(8));
    engine.process.check()?;
    let anon_after_kib = sample::anonymous_kib(pid).unwrap_or(0);
    Ok(Idle { rules, created_s, anon_before_kib, anon_after_kib })
}
