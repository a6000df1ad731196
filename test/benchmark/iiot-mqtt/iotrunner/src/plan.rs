//! Which steps a run takes, and when a ladder ends.

use crate::judge::Verdict;
use crate::options::Options;
use crate::spec;
use crate::step::{self, Mode, Outcome, Step};

/// A step that could not be run at all.
pub struct Broken {
    pub label: String,
    pub error: String,
}

#[derive(Default)]
pub struct Results {
    pub outcomes: Vec<Outcome>,
    pub broken: Vec<Broken>,
}

/// Climbs every ladder; each outcome is told as it comes.
pub fn run(options: &Options, mut tell: impl FnMut(&str)) -> Result<Results, String> {
    let mut results = Results::default();
    for workload in &options.workloads {
        let spec = spec::load(&options.home, *workload, options.smoke)?;
        for mode in &options.modes {
            for engine in options
                .engines
                .iter()
                .filter(|engine| engine.does(*workload))
            {
                let rates = if *mode == Mode::Broker {
                    &options.rates
                } else {
                    &options.direct_rates
                };
                for rate in rates {
                    let step = Step {
                        engine: engine.clone(),
                        spec: spec.clone(),
                        mode: *mode,
                        rate: *rate,
                    };
                    if !climb(options, step, &mut results, &mut tell) {
                        break;
                    }
                }
            }
        }
    }
    Ok(results)
}

/// Runs a step; false when the ladder ends here.
fn climb(
    options: &Options,
    step: Step,
    results: &mut Results,
    tell: &mut impl FnMut(&str),
) -> bool {
    match step::run(options, &step) {
        Ok(outcome) => {
            tell(&line(&outcome));
            let held = outcome.verdict == Verdict::Sustained;
            results.outcomes.push(outcome);
            held
        }
        Err(error) => {
            tell(&format!("{:<28} could not be run: {error}", step.label()));
            results.broken.push(Broken {
                label: step.label(),
                error,
            });
            false
        }
    }
}

/// An outcome in one line.
pub fn line(outcome: &Outcome) -> String {
    format!(
        "{:<28} {:>9.0} msg/s  {:>7.3} us/msg  heap {:>6.1} MiB (idle {:.1})  close +{} ms  {} {}",
        outcome.step.label(),
        outcome.rate_reached(),
        outcome.cpu_us_per_message,
        outcome.anon_max_kib() as f64 / 1024.0,
        outcome.idle_anon_kib as f64 / 1024.0,
        outcome.close_late_ms,
        outcome.verdict.word(),
        outcome.verdict.reasons()
    )
}

impl Results {
    /// Smoke: every proof must hold. A full run: something of every ladder must have held.
    pub fn success(&self, options: &Options) -> bool {
        if options.smoke {
            let held = |o: &Outcome| o.verdict == Verdict::Sustained;
            return self.broken.is_empty() && self.outcomes.iter().all(held);
        }
        self.broken.is_empty()
            && self.outcomes.iter().all(|o| {
                self.outcomes.iter().any(|other| {
                    other.verdict == Verdict::Sustained
                        && other.step.engine == o.step.engine
                        && other.step.mode == o.step.mode
                        && other.step.spec.workload == o.step.spec.workload
                })
            })
    }
}
