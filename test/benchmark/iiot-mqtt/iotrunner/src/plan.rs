//! Which steps a run takes, and when a ladder ends.

use crate::judge::Verdict;
use crate::options::Options;
use crate::step::{self, Outcome, Step};
use crate::suite;

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

/// Climbs every ladder; each outcome is told as it comes, with all that there is so far.
pub fn run(options: &Options, mut tell: impl FnMut(&str, &Results)) -> Result<Results, String> {
    let mut results = Results::default();
    for ladder in suite::ladders(options)? {
        for step in ladder.steps {
            let held = take(options, &step, &mut results, &mut tell);
            if ladder.climb && !held {
                break;
            }
        }
    }
    Ok(results)
}

/// Runs a step, a second time when the generator was late: that may have been somebody else's
/// doing. False when it did not hold.
fn take(
    options: &Options,
    step: &Step,
    results: &mut Results,
    tell: &mut impl FnMut(&str, &Results),
) -> bool {
    let tries = if options.smoke { 1 } else { 2 };
    for _ in 0..tries {
        match step::run(options, step) {
            Ok(outcome) => {
                let line = line(&outcome);
                let void = matches!(outcome.verdict, Verdict::Void(_));
                let held = outcome.verdict == Verdict::Sustained;
                results.outcomes.push(outcome);
                tell(&line, results);
                if !void {
                    return held;
                }
            }
            Err(error) => {
                let line = format!("{:<28} could not be run: {error}", step.label());
                results.broken.push(Broken {
                    label: step.label(),
                    error,
                });
                tell(&line, results);
                return false;
            }
        }
    }
    false
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
    /// Steps that lead somewhere: of a void step and its second try the later one.
    pub fn counted(&self) -> Vec<&Outcome> {
        let again = |k: usize, outcome: &Outcome| {
            self.outcomes[k + 1..]
                .iter()
                .any(|later| later.step.label() == outcome.step.label())
        };
        let all = self.outcomes.iter().enumerate();
        all.filter(|(k, o)| !again(*k, o)).map(|(_, o)| o).collect()
    }

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
