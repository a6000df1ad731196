//! What stands beside the figures of a kept run: command, machine, source, engine; and the figures
//! as a table that a page shows.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use iotrunner::machine;
use iotrunner::provenance::{self, Tree};

use crate::case::Case;
use crate::idle::Idle;
use crate::load::{Outcome, Plan};

/// MiB of anonymous heap that a case may take.
fn heap_max_mib(case: Case) -> f64 {
    if case == Case::P3 { 60.0 } else { 40.0 }
}

const IDLE_BYTES_MAX: f64 = 4096.0;
const IDLE_CREATE_S_MAX: f64 = 10.0;
/// A feed that was later than this did not offer the rate.
const LAG_MS_MAX: f64 = 200.0;

pub const HEAD: &str = "| case | rules | msg/s | evaluations/s | CPU % of a core | heap MiB \
                        (idle) | drained after s | proof | aim |\n\
                        |---|---|---|---|---|---|---|---|---|\n";

pub fn row(plan: &Plan, outcome: &Outcome) -> String {
    let mib = |kib: u64| kib as f64 / 1024.0;
    let heap = mib(outcome.anon_max_kib);
    format!(
        "| {} | {} | {} | {:.1} M | {:.0} | {heap:.1} ({:.1}) | {:.2} | {} | <= {} MiB: {} |\n",
        plan.case.id().to_uppercase(),
        plan.rules,
        plan.rate,
        plan.rules as f64 * outcome.sent as f64 / plan.seconds.max(1) as f64 / 1e6,
        outcome.cpu_pct,
        mib(outcome.anon_idle_kib),
        outcome.drain_s,
        if outcome.proof.holds() { "exact" } else { "FAILED" },
        heap_max_mib(plan.case),
        judged(outcome.proof.holds(), outcome.lag_ms, heap <= heap_max_mib(plan.case)),
    )
}

fn judged(exact: bool, lag_ms: f64, within: bool) -> &'static str {
    match (exact, lag_ms <= LAG_MS_MAX, within) {
        (true, true, true) => "held",
        // like everywhere: late feeding says nothing about the engine
        (_, false, _) => "void, the feed was late",
        _ => "NOT held",
    }
}

pub fn idle_row(idle: &Idle) -> String {
    let held = idle.bytes_a_rule() <= IDLE_BYTES_MAX && idle.created_s <= IDLE_CREATE_S_MAX;
    format!(
        "| idle | {} | 0 | - | - | {:.1} ({:.1}) | - | {:.0} B a rule, created in {:.2} s | \
         <= 4 KiB, 10 s: {} |\n",
        idle.rules,
        idle.anon_after_kib as f64 / 1024.0,
        idle.anon_before_kib as f64 / 1024.0,
        idle.bytes_a_rule(),
        idle.created_s,
        if held { "held" } else { "NOT held" },
    )
}

/// What a record is about.
pub struct About<'a> {
    pub command: String,
    pub home: &'a Path,
    pub tree: &'a Tree,
    pub hash: &'a str,
    pub built: bool,
}

/// README.md, figures.md and summary.txt.
pub fn write(folder: &Path, about: &About, rows: &str, summary: &str) -> Result<(), String> {
    let mut text = format!("# Many rules on one stream\n\nWhat was run: `{}`\n\n", about.command);
    for line in machine::hardware() {
        let _ = writeln!(text, "{line}");
    }
    let _ = writeln!(text, "- engine: SHA-256 {}, the same for every case", about.hash);
    let now = Tree::look(about.home);
    for line in provenance::sentences(about.tree, &now, about.built) {
        let _ = writeln!(text, "- {line}");
    }
    let _ = write!(text, "\n{HEAD}{rows}\n```text\n{summary}```\n\nEach second: raw-*.csv.\n");
    put(folder, "README.md", &text)?;
    put(folder, "figures.md", &format!("{HEAD}{rows}"))?;
    put(folder, "summary.txt", summary)
}

fn put(folder: &Path, name: &str, text: &str) -> Result<(), String> {
    fs::create_dir_all(folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let path = folder.join(name);
    fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_or_late_or_fat_run_is_not_held() {
        assert_eq!(judged(true, 1.0, true), "held");
        assert_eq!(judged(false, 1.0, true), "NOT held");
        assert_eq!(judged(true, 1.0, false), "NOT held");
        assert!(judged(true, 201.0, true).starts_with("void"));
    }

    #[test]
    fn an_idle_rule_is_measured_against_its_aim() {
        let idle = |after| Idle {
            rules: 1_000,
            created_s: 1.0,
            anon_before_kib: 1_000,
            anon_after_kib: after,
        };
        assert!(idle_row(&idle(4_900)).contains(": held"));
        assert!(idle_row(&idle(5_100)).contains("NOT held"));
    }
}
