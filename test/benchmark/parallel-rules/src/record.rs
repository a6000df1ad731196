//! The evidence folder: a summary for people, a line a second for everybody else.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use crate::idle::Idle;
use crate::load::{Outcome, Plan};

pub fn summary(plan: &Plan, outcome: &Outcome) -> String {
    let mut text = String::new();
    let evaluations = plan.rules as f64 * outcome.sent as f64 / plan.seconds.max(1) as f64;
    let _ = writeln!(
        text,
        "{}: {} rules x {} msg/s for {} s = {:.1} M evaluations/s; proof {}; engine {:.0} % of a \
         core, anonymous heap {:.1} MiB idle, {:.1} MiB at most; {} messages sent, {} results; \
         drained {:.2} s after the end; generator at most {:.1} ms late; rules created in {:.2} s; \
         everybody else used {:.0} % of a core",
        plan.case.id(),
        plan.rules,
        plan.rate,
        plan.seconds,
        evaluations / 1e6,
        if outcome.proof.holds() { "exact" } else { "FAILED" },
        outcome.cpu_pct,
        outcome.anon_idle_kib as f64 / 1024.0,
        outcome.anon_max_kib as f64 / 1024.0,
        outcome.sent,
        outcome.proof.results,
        outcome.drain_s,
        outcome.lag_ms,
        outcome.created_s,
        outcome.others_pct,
    );
    for fault in &outcome.proof.faults {
        let _ = writeln!(text, "  fault: {fault}");
    }
    text
}

pub fn idle_summary(idle: &Idle) -> String {
    format!(
        "idle: {} rules on one stream created in {:.2} s; {:.0} bytes of anonymous heap a rule \
         ({:.1} MiB before, {:.1} MiB after)\n",
        idle.rules,
        idle.created_s,
        idle.bytes_a_rule(),
        idle.anon_before_kib as f64 / 1024.0,
        idle.anon_after_kib as f64 / 1024.0,
    )
}

/// `raw-CASE.csv`: what was sampled each second.
pub fn raw(folder: &Path, plan: &Plan, outcome: &Outcome) -> Result<(), String> {
    let mut text = String::from(
        "second,phase,sent,engine_cpu_pct,engine_anon_kib,generator_lag_ms,others_cpu_pct,\
         sink_bytes\n",
    );
    for s in &outcome.seconds {
        let _ = writeln!(
            text,
            "{:.2},{},{},{:.1},{},{:.2},{:.1},{}",
            s.second,
            s.phase,
            s.sent,
            s.engine_cpu_pct,
            s.engine_anon_kib,
            s.generator_lag_ms,
            s.others_cpu_pct,
            s.sink_bytes
        );
    }
    let path = folder.join(format!("raw-{}.csv", plan.case.id()));
    fs::write(&path, text).map_err(|e| format!("{}: {e}", path.display()))
}
