//! `figures.md`: what a run comes to, as the tables that a page shows; `results.json`: the same for
//! programs, with every step.

use std::fmt::Write;

use serde_json::{Value, json};

use super::tables::{grouped, mean};
use crate::judge::{self, GaveWay, Verdict};
use crate::latency::percentile;
use crate::options::Options;
use crate::plan::Results;
use crate::step::{Mode, Outcome};
use crate::suite::Suite;

/// Cost a message may grow by so much from the lowest to the highest rate.
const GROWTH_MAX: f64 = 1.3;

pub fn figures(options: &Options, results: &Results) -> String {
    let counted = results.counted();
    match options.suite {
        None | Some(Suite::Ladder) => ladder(&counted),
        Some(Suite::Sustained) => sustained(&counted),
        Some(Suite::Latency) => latency(&counted),
        Some(Suite::Growth) => growth(&counted),
        Some(Suite::Multicore) => super::multicore::figures(&counted),
    }
}

pub fn results_json(options: &Options, results: &Results) -> String {
    let steps: Vec<Value> = results.counted().iter().map(|o| step_json(o)).collect();
    let broken: Vec<Value> = results
        .broken
        .iter()
        .map(|b| json!({ "step": b.label, "error": b.error }))
        .collect();
    let value = json!({
        "suite": options.suite.map(Suite::name),
        "revision": options.tree.commit,
        "clean": options.tree.clean(),
        "engine_built_by_this_run": options.built,
        "engines": options.engines.iter()
            .map(|e| json!({ "name": e.name, "sha256": e.hash }))
            .collect::<Vec<_>>(),
        "seconds": options.seconds,
        "steps": steps,
        "broken": broken,
    });
    format!("{value:#}\n")
}

fn step_json(o: &Outcome) -> Value {
    let latency = o.latency.as_ref().map(|l| {
        json!({ "p50": percentile(&l.ns, 0.5), "p90": percentile(&l.ns, 0.9),
                "p99": percentile(&l.ns, 0.99), "p999": percentile(&l.ns, 0.999),
                "max": percentile(&l.ns, 1.0), "lines": l.ns.len() })
    });
    json!({
        "step": o.step.label(),
        "engine": o.step.engine.name,
        "workload": o.step.spec.workload.id(),
        "mode": o.step.mode.name(),
        "rate": o.step.rate,
        "rate_reached": o.rate_reached().round(),
        "sent": o.done.sent,
        "proof": o.proof.to_string(),
        "verdict": o.verdict.word(),
        "reasons": o.verdict.reasons(),
        "gave_way": who(o).map(GaveWay::name),
        "cpu_us_per_message": (o.cpu_us_per_message * 1e4).round() / 1e4,
        "heap_idle_kib": o.idle_anon_kib,
        "heap_max_kib": o.anon_max_kib(),
        "heap_spread_kib": judge::heap_spread_kib(&o.seconds),
        "close_late_ms": o.close_late_ms,
        "generator_lag_ms_max": o.done.lag_ms_max,
        "broker_dropped": o.broker_dropped,
        "others_cpu_pct": mean(&[o], |s| s.others_cpu_pct).round(),
        "latency_ns": latency,
        "threads_cpu_s": o.threads_s,
        "pulse_ns": o.pulse_ns.map(f64::round),
    })
}

fn who(o: &Outcome) -> Option<GaveWay> {
    let after = o.seconds.iter().find(|s| s.phase == "drain");
    let signs = judge::Signs {
        dropped: o.broker_dropped,
        busy_pct: mean(&[o], |s| s.engine_cpu_pct),
        broker_after_pct: after.map_or(0.0, |s| s.broker_cpu_pct),
    };
    judge::gave_way(&o.verdict, &o.proof, signs)
}

pub(super) fn held(o: &Outcome) -> bool {
    o.verdict == Verdict::Sustained
}

fn heap(o: &Outcome) -> String {
    let mib = |kib: u64| kib as f64 / 1024.0;
    format!("{:.1} ({:.1})", mib(o.anon_max_kib()), mib(o.idle_anon_kib))
}

pub(super) fn id(o: &Outcome) -> String {
    o.step.spec.workload.id().to_uppercase()
}

/// One list for each engine, workload and mode, in the order of the run.
pub(super) fn climbs<'a>(list: &[&'a Outcome]) -> Vec<Vec<&'a Outcome>> {
    let mut climbs: Vec<Vec<&Outcome>> = Vec::new();
    for o in list {
        let same = |c: &&mut Vec<&Outcome>| {
            let first = &c[0].step;
            first.engine == o.step.engine
                && first.mode == o.step.mode
                && first.spec.workload == o.step.spec.workload
        };
        match climbs.iter_mut().find(same) {
            Some(climb) => climb.push(o),
            None => climbs.push(vec![o]),
        }
    }
    climbs
}

/// The highest proven rate of each workload, and why the next did not hold.
fn ladder(list: &[&Outcome]) -> String {
    let mut text = "| engine | work | mode | highest proven, msg/s | CPU us a message | heap MiB \
                    (idle) | the next step |\n|---|---|---|---|---|---|---|\n"
        .to_string();
    for climb in climbs(list) {
        let first = climb[0];
        let head = format!(
            "| {} | {} | {} ",
            first.step.engine.name,
            id(first),
            first.step.mode.name()
        );
        let best = climb
            .iter()
            .filter(|o| held(o))
            .max_by_key(|o| o.rate_reached() as u64);
        let next = climb.iter().find(|o| !held(o)).map(|o| why(o));
        let next = next.unwrap_or_else(|| match first.step.rate {
            0 => "-".to_string(),
            _ => "none was tried".to_string(),
        });
        let _ = match best {
            Some(o) => writeln!(
                text,
                "{head}| {} | {:.2} | {} | {next} |",
                grouped(o.rate_reached() as u64),
                o.cpu_us_per_message,
                heap(o)
            ),
            None => writeln!(text, "{head}| none | | | {next} |"),
        };
    }
    text.push_str(&broker_costs(list));
    text
}

fn why(o: &Outcome) -> String {
    format!(
        "{}: {} gave way ({}; broker dropped {}, engine {:.0} % of its core)",
        grouped(o.step.rate),
        who(o).map_or("none", GaveWay::name),
        o.verdict.reasons(),
        o.broker_dropped,
        mean(&[o], |s| s.engine_cpu_pct)
    )
}

/// CPU a message at each rate of the broker that held.
fn broker_costs(list: &[&Outcome]) -> String {
    let mut rates: Vec<u64> = list
        .iter()
        .filter(|o| o.step.mode == Mode::Broker && held(o))
        .map(|o| o.step.rate)
        .collect();
    rates.sort_unstable();
    rates.dedup();
    if rates.is_empty() {
        return String::new();
    }
    let heads: String = rates
        .iter()
        .map(|r| format!(" {} |", grouped(*r)))
        .collect();
    let mut text = format!(
        "\nCPU us a message through the broker, by msg/s:\n\n| engine | work |{heads}\n\
         |---|---|{}\n",
        "---|".repeat(rates.len())
    );
    for climb in climbs(list)
        .iter()
        .filter(|c| c[0].step.mode == Mode::Broker)
    {
        let cell = |rate: &u64| {
            let found = climb.iter().find(|o| o.step.rate == *rate && held(o));
            found.map_or(" |".to_string(), |o| {
                format!(" {:.2} |", o.cpu_us_per_message)
            })
        };
        let cells: String = rates.iter().map(cell).collect();
        let _ = writeln!(
            text,
            "| {} | {} |{cells}",
            climb[0].step.engine.name,
            id(climb[0])
        );
    }
    text
}

fn sustained(list: &[&Outcome]) -> String {
    let mut text = "| work | mode | msg/s | seconds | CPU us a message | heap MiB (idle) | heap \
                    varied, KiB | closed after, ms | verdict |\n\
                    |---|---|---|---|---|---|---|---|---|\n"
        .to_string();
    for o in list {
        let _ = writeln!(
            text,
            "| {} | {} | {} | {:.0} | {:.2} | {} | {} | {} | {} {} |",
            id(o),
            o.step.mode.name(),
            grouped(o.rate_reached() as u64),
            o.done.seconds,
            o.cpu_us_per_message,
            heap(o),
            judge::heap_spread_kib(&o.seconds).unwrap_or(0),
            o.close_late_ms,
            o.verdict.word(),
            o.verdict.reasons()
        );
    }
    for plot in super::svg::names(list) {
        let _ = write!(text, "\n![CPU and heap of {plot}]({plot}.svg)\n");
    }
    text
}

fn latency(list: &[&Outcome]) -> String {
    let mut text = "| engine | msg/s | p50 ms | p90 | p99 | p99.9 | max | lines | \
                    generator late ms | verdict |\n\
                    |---|---|---|---|---|---|---|---|---|---|\n"
        .to_string();
    for o in list {
        let Some(l) = &o.latency else { continue };
        let ms = |list: &[u64], part: f64| percentile(list, part) as f64 / 1e6;
        let all = [0.5, 0.9, 0.99, 0.999, 1.0].map(|part| format!("{:.3}", ms(&l.ns, part)));
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {:.1} | {} {} |",
            o.step.engine.name,
            grouped(o.step.rate),
            all.join(" | "),
            grouped(l.ns.len() as u64),
            o.done.lag_ms_max,
            o.verdict.word(),
            o.verdict.reasons()
        );
    }
    text
}

fn growth(list: &[&Outcome]) -> String {
    let climbs = climbs(list);
    let rates = climbs.first().into_iter().flatten();
    let heads: Vec<String> = rates
        .map(|o| format!("{}/s: us, heap MiB (idle)", grouped(o.step.rate)))
        .collect();
    let mut text = format!(
        "| work | {} | largest growth, of {GROWTH_MAX} allowed |\n|---|{}---|\n",
        heads.join(" | "),
        "---|".repeat(heads.len())
    );
    for climb in climbs {
        let cell = |o: &&Outcome| {
            let note = if held(o) { "" } else { " NOT held" };
            format!("{:.3}, {}{note}", o.cpu_us_per_message, heap(o))
        };
        let cells: Vec<String> = climb.iter().map(cell).collect();
        let costs: Vec<f64> = climb.iter().map(|o| o.cpu_us_per_message).collect();
        let most = largest_growth(&costs);
        // A step that could not be run is not there.
        let whole = climb.len() == heads.len() && climb.len() > 1;
        let within = most <= GROWTH_MAX && whole && climb.iter().all(|o| held(o));
        let _ = writeln!(
            text,
            "| {} | {} | {most:.2} {} |",
            id(climb[0]),
            cells.join(" | "),
            if within { "held" } else { "NOT held" }
        );
    }
    text
}

/// The largest ratio of a cost to one at a lower rate; below 1 it only ever falls.
fn largest_growth(costs: &[f64]) -> f64 {
    let pairs = costs
        .iter()
        .enumerate()
        .flat_map(|(k, low)| costs[k + 1..].iter().map(move |high| high / low.max(1e-9)));
    pairs.fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_growth_counts_against_a_cost() {
        assert!(largest_growth(&[3.0, 1.0, 0.5]) < 1.0);
        assert_eq!(largest_growth(&[1.0, 0.5, 1.0]), 2.0);
        assert_eq!(largest_growth(&[1.0, 1.2]), 1.2);
    }
}
