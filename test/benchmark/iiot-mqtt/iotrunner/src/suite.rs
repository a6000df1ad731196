//! What each suite runs: which steps, in which order, and where a ladder ends.

use std::path::Path;

use clap::ValueEnum;
use mqttgen::workload::Workload;
use serde_json::Value;

use crate::engine::EngineSpec;
use crate::options::Options;
use crate::spec::{self, Spec};
use crate::step::{Cores, Extra, Mode, Step};

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Suite {
    /// W1-W5 through the broker up to what the machine holds, and the ceiling without one
    Ladder,
    /// 120 s at the highest proven broker rate and at 1,000,000 msg/s direct
    Sustained,
    /// W1 from publish to file line at 10,000 and 100 msg/s through the broker
    Latency,
    /// CPU and heap at 10,000, 100,000 and 1,000,000 msg/s direct
    Growth,
    /// W1 and W4 as two streams, on one core and on two half cores
    Multicore,
}

/// Rates of the broker ladder; it ends where one does not hold.
pub const LADDER: [u64; 8] = [
    5_000, 20_000, 50_000, 100_000, 125_000, 150_000, 200_000, 250_000,
];
pub const GROWTH: [u64; 3] = [10_000, 100_000, 1_000_000];
pub const LATENCY: [u64; 2] = [10_000, 100];
pub const SUSTAINED_DIRECT: u64 = 1_000_000;
/// Of the suite multicore; its figures are medians.
const ROUNDS: usize = 3;
/// The floor is a comparison, not a contestant: one broker rate is enough.
const BARE_BROKER: u64 = 50_000;

impl Suite {
    pub fn name(self) -> &'static str {
        match self {
            Suite::Ladder => "ladder",
            Suite::Sustained => "sustained",
            Suite::Latency => "latency",
            Suite::Growth => "growth",
            Suite::Multicore => "multicore",
        }
    }

    pub fn seconds(self) -> f64 {
        match self {
            Suite::Sustained => 120.0,
            Suite::Growth => 20.0,
            Suite::Multicore => 10.0,
            Suite::Ladder | Suite::Latency => 30.0,
        }
    }

    pub fn engines(self) -> &'static [&'static str] {
        match self {
            Suite::Ladder | Suite::Latency => &["rekuiper", "bare=builtin"],
            _ => &["rekuiper"],
        }
    }

    pub fn workloads(self) -> &'static [&'static str] {
        match self {
            Suite::Latency => &["w1"],
            Suite::Multicore => &["w1", "w4"],
            _ => &["w1", "w2", "w3", "w4", "w5"],
        }
    }
}

/// Steps that belong together; `climb` ends at the first that does not hold.
pub struct Ladder {
    pub steps: Vec<Step>,
    pub climb: bool,
}

/// All ladders of a run, in their order.
pub fn ladders(options: &Options) -> Result<Vec<Ladder>, String> {
    let mut list = Vec::new();
    for workload in &options.workloads {
        let spec = spec::load(&options.home, *workload, options.smoke)?;
        for mode in &options.modes {
            for engine in options.engines.iter().filter(|e| e.does(*workload)) {
                if let Some(ladder) = ladder(options, &spec, *mode, engine)? {
                    list.push(ladder);
                }
            }
        }
    }
    Ok(list)
}

fn ladder(
    options: &Options,
    spec: &Spec,
    mode: Mode,
    engine: &EngineSpec,
) -> Result<Option<Ladder>, String> {
    let broker = mode == Mode::Broker;
    let given = if broker {
        &options.rates
    } else {
        &options.direct_rates
    };
    let rates = |default: &[u64]| given.clone().unwrap_or_else(|| default.to_vec());
    let plain = |rates: Vec<u64>| rates.into_iter().map(|rate| (rate, Extra::None)).collect();
    let steps: Vec<(u64, Extra)> = match options.suite {
        None if broker => plain(rates(&LADDER[..4])),
        None => plain(rates(&[0])),
        Some(Suite::Ladder) if broker && engine.name == "bare" => plain(rates(&[BARE_BROKER])),
        Some(Suite::Ladder) if broker => plain(rates(&LADDER)),
        Some(Suite::Ladder) => plain(rates(&[0])),
        Some(Suite::Sustained) if broker => match given {
            Some(rates) => plain(rates.clone()),
            None => plain(vec![proven(options, engine, spec.workload)?]),
        },
        Some(Suite::Sustained) => plain(rates(&[SUSTAINED_DIRECT])),
        Some(Suite::Latency) if broker => rates(&LATENCY)
            .into_iter()
            .map(|rate| (rate, Extra::Latency))
            .collect(),
        Some(Suite::Growth) if !broker => plain(rates(&GROWTH)),
        Some(Suite::Multicore) if !broker => {
            // Each of the two streams gets what one gets elsewhere.
            let rate = rates(&[0]).first().map_or(0, |rate| rate * 2);
            let rounds = if options.smoke { 1 } else { ROUNDS };
            let kinds = [Cores::Whole, Cores::Half, Cores::TwoHalves];
            let round = |round| kinds.map(|on| (rate, Extra::Streams { on, round }));
            (1..=rounds).flat_map(round).collect()
        }
        Some(Suite::Latency | Suite::Growth | Suite::Multicore) => Vec::new(),
    };
    let step = |(rate, extra)| Step {
        engine: engine.clone(),
        spec: spec.clone(),
        mode,
        rate,
        extra,
    };
    let steps: Vec<Step> = steps.into_iter().map(step).collect();
    let climb = matches!(options.suite, None | Some(Suite::Ladder));
    Ok((!steps.is_empty()).then_some(Ladder { steps, climb }))
}

/// The highest broker rate that an earlier run has proven for this engine and workload.
fn proven(options: &Options, engine: &EngineSpec, workload: Workload) -> Result<u64, String> {
    let folder = match &options.from {
        Some(folder) => folder.clone(),
        None => crate::page::newest(&options.home.join("runs"), "-ladder").ok_or(
            "no runs/*-ladder to take the rates from: run --suite ladder, or give --rates",
        )?,
    };
    let path = folder.join("results.json");
    let failed = |why: String| format!("{}: {why}", path.display());
    let text = std::fs::read_to_string(&path).map_err(|e| failed(e.to_string()))?;
    let value: Value = serde_json::from_str(&text).map_err(|e| failed(e.to_string()))?;
    highest(&value, &engine.name, workload.id()).ok_or_else(|| {
        failed(format!(
            "no sustained broker step of {} {}; give --rates",
            engine.name,
            workload.id()
        ))
    })
}

fn highest(results: &Value, engine: &str, workload: &str) -> Option<u64> {
    let steps = results["steps"].as_array()?;
    let ours = steps.iter().filter(|step| {
        step["engine"] == engine
            && step["workload"] == workload
            && step["mode"] == "broker"
            && step["verdict"] == "sustained"
    });
    ours.filter_map(|step| step["rate"].as_u64()).max()
}

/// For the record: which folder the rates came from, without the path.
pub fn source_of_rates(from: &Path) -> String {
    from.file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_highest_proven_rate_is_one_that_was_sustained() {
        let step = |rate: u64, mode: &str, verdict: &str| {
            json!({ "engine": "rekuiper", "workload": "w1", "mode": mode, "rate": rate,
                    "verdict": verdict })
        };
        let results = json!({ "steps": [
            step(50_000, "broker", "sustained"),
            step(100_000, "broker", "sustained"),
            step(150_000, "broker", "failed"),
            step(200_000, "broker", "void"),
            step(900_000, "direct", "sustained"),
        ]});
        assert_eq!(highest(&results, "rekuiper", "w1"), Some(100_000));
        assert_eq!(highest(&results, "rekuiper", "w2"), None);
        assert_eq!(highest(&json!({}), "rekuiper", "w1"), None);
    }
}
