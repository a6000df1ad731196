//! raw.csv, summary.md and proofs.md.

use std::fmt::Write;

use crate::latency::histogram;
use crate::plan::Results;
use crate::sample::Second;
use crate::step::Outcome;

pub fn raw(outcomes: &[Outcome]) -> String {
    let mut text = "step,engine,workload,mode,rate,second,phase,sent,engine_cpu_pct,\
                    engine_anon_kib,broker_cpu_pct,generator_cpu_pct,generator_lag_ms,\
                    broker_dropped,others_cpu_pct,sink_bytes\n"
        .to_string();
    for outcome in outcomes {
        let step = &outcome.step;
        for s in &outcome.seconds {
            let _ = writeln!(
                text,
                "{},{},{},{},{},{:.2},{},{},{:.1},{},{:.1},{:.1},{:.2},{},{:.1},{}",
                step.label(),
                step.engine.name,
                step.spec.workload.id(),
                step.mode.name(),
                step.rate,
                s.second,
                s.phase,
                s.sent,
                s.engine_cpu_pct,
                s.engine_anon_kib,
                s.broker_cpu_pct,
                s.generator_cpu_pct,
                s.generator_lag_ms,
                s.broker_dropped,
                s.others_cpu_pct,
                s.sink_bytes
            );
        }
    }
    text
}

pub fn summary(results: &Results) -> String {
    format!(
        "# Summary\n\n{}\nRate: messages sent over the time of sending. CPU: of the engine from \
         the \
         start of sending to the end of the drain, over the messages sent. Heap: anonymous memory, \
         highest reading and before sending. Close: from the due close of the sink to its last \
         growth. At stop: bytes that came only when the rule was stopped. Others: CPU of everybody \
         else on the machine while sending, in percent of a core. Pulse: what a message takes the \
         bare program in memory on the engine's core, before and after the step.\n",
        summary_table(results)
    )
}

pub fn summary_table(results: &Results) -> String {
    let mut text = "| engine | work | mode | msg/s | CPU us/msg | CPU % | heap MiB (idle) \
                    | close ms | at stop B | broker dropped | late ms | others % | pulse ns \
                    | verdict |\n\
                    |---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n"
        .to_string();
    for outcome in &results.outcomes {
        let step = &outcome.step;
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {:.3} | {:.0} | {:.1} ({:.1}) | {} | {} | {} | {:.0} | {:.0} \
             | {:.0}, {:.0} | {} |",
            step.engine.name,
            step.spec.workload.id().to_uppercase(),
            step.mode.name(),
            grouped(outcome.rate_reached() as u64),
            outcome.cpu_us_per_message,
            mean(&[outcome], |s| s.engine_cpu_pct),
            outcome.anon_max_kib() as f64 / 1024.0,
            outcome.idle_anon_kib as f64 / 1024.0,
            outcome.close_late_ms,
            outcome.bytes_at_stop,
            outcome.broker_dropped,
            outcome.done.lag_ms_max,
            mean(&[outcome], |s| s.others_cpu_pct),
            outcome.pulse_ns[0],
            outcome.pulse_ns[1],
            outcome.verdict.word()
        );
    }
    for broken in &results.broken {
        let _ = writeln!(
            text,
            "| {} | | | could not be run | | | | | | | | | | failed |",
            broken.label
        );
    }
    text
}

pub fn proofs(results: &Results) -> String {
    let mut text =
        "# Proofs\n\nThe sink file of each step, read back whole and compared with what \
                    was sent.\n"
            .to_string();
    for outcome in &results.outcomes {
        let _ = writeln!(
            text,
            "\n## {}\n\n- sent: {}",
            outcome.step.label(),
            outcome.done.sent
        );
        let _ = writeln!(text, "- {}", outcome.proof);
        let _ = writeln!(
            text,
            "- verdict: {} {}",
            outcome.verdict.word(),
            outcome.verdict.reasons()
        );
        for example in &outcome.proof.examples {
            let _ = writeln!(text, "- `{}`", example.replace('`', "'"));
        }
        let status = outcome
            .status
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ");
        let _ = writeln!(text, "- the engine said before the stop: `{status}`");
    }
    for broken in &results.broken {
        let _ = writeln!(
            text,
            "\n## {}\n\n- could not be run: {}",
            broken.label, broken.error
        );
    }
    text
}

/// How many lines took how long, by step; empty where nothing was followed.
pub fn latencies(outcomes: &[Outcome]) -> String {
    let mut text = String::new();
    for outcome in outcomes {
        let Some(latency) = &outcome.latency else {
            continue;
        };
        if text.is_empty() {
            text.push_str("step,up_to_us,count\n");
        }
        for (top, count) in histogram(&latency.ns) {
            let _ = writeln!(text, "{},{top},{count}", outcome.step.label());
        }
    }
    text
}

/// Load of everybody else while sending, in percent of a core.
pub fn others_mean(outcomes: &[Outcome]) -> f64 {
    let list: Vec<&Outcome> = outcomes.iter().collect();
    mean(&list, |second| second.others_cpu_pct)
}

/// The mean over the seconds of sending.
pub fn mean(outcomes: &[&Outcome], value: fn(&Second) -> f64) -> f64 {
    let seconds = outcomes
        .iter()
        .flat_map(|o| &o.seconds)
        .filter(|s| s.phase == "send");
    let list: Vec<f64> = seconds.map(value).collect();
    list.iter().sum::<f64>() / list.len().max(1) as f64
}

/// 1234567 as 1,234,567.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_are_grouped() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_234), "1,234");
        assert_eq!(grouped(2_500_000), "2,500,000");
    }
}
