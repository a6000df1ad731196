//! The rules of sustainability, applied to what a step recorded.

use crate::check::Proof;
use crate::generator::Done;
use crate::sample::Second;

pub const HEAP_SPREAD_KIB_MAX: u64 = 2 * 1024;
pub const CLOSE_MS_MAX: u64 = 1_000;
/// For steps that are not judged strictly: only a sink that hangs is a fault.
pub const CLOSE_MS_MAX_SMOKE: u64 = 20_000;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    Sustained,
    /// The generator was late, so the step says nothing about the engine.
    Void(String),
    Failed(Vec<String>),
}

/// What the judge looks at.
pub struct Evidence<'a> {
    pub proof: &'a Proof,
    pub done: &'a Done,
    pub seconds: &'a [Second],
    /// Milliseconds from the due close to the last growth of the file.
    pub close_late_ms: u64,
    /// Planned rate of a paced step; 0 = as fast as possible.
    pub rate: u64,
    /// Open loop through a broker: a late generator voids the step.
    pub open_loop: bool,
    pub lag_ms_max: f64,
    /// False for smoke steps: they are too short for the heap rule, and the machine they run on may
    /// be too busy for rates and for a close within a second. The proof counts all the same.
    pub strict: bool,
    /// Lines that the follower of a latency step never saw.
    pub unseen: u64,
}

/// Spread of the anonymous heap in the second half of the send window, in KiB.
pub fn heap_spread_kib(seconds: &[Second]) -> Option<u64> {
    let sending: Vec<u64> = seconds
        .iter()
        .filter(|s| s.phase == "send")
        .map(|s| s.engine_anon_kib)
        .collect();
    let half = &sending[sending.len() / 2..];
    Some(half.iter().max()? - half.iter().min()?)
}

pub fn judge(evidence: &Evidence) -> Verdict {
    let Evidence { proof, done, .. } = evidence;
    let mut faults = Vec::new();
    if evidence.open_loop && done.lag_ms_max > evidence.lag_ms_max {
        return Verdict::Void(format!(
            "generator up to {:.0} ms late (limit {:.0} ms)",
            done.lag_ms_max, evidence.lag_ms_max
        ));
    }
    if done.broken > 0 {
        faults.push(format!("{} generator connections broke", done.broken));
    }
    if evidence.unseen > 0 {
        faults.push(format!("{} lines were never seen to come", evidence.unseen));
    }
    if !proof.exact() {
        faults.push(format!("proof {proof}"));
    }
    let close_ms_max = if evidence.strict {
        CLOSE_MS_MAX
    } else {
        CLOSE_MS_MAX_SMOKE
    };
    if evidence.close_late_ms > close_ms_max {
        faults.push(format!(
            "sink closed {} ms after its due close",
            evidence.close_late_ms
        ));
    }
    if let Some(spread) = heap_spread_kib(evidence.seconds)
        && evidence.strict
        && spread > HEAP_SPREAD_KIB_MAX
    {
        faults.push(format!("heap varied by {spread} KiB in the second half"));
    }
    let reached = done.sent as f64 / done.seconds.max(1e-9);
    let paced = evidence.strict && !evidence.open_loop && evidence.rate > 0;
    if paced && reached < 0.97 * evidence.rate as f64 {
        faults.push(format!(
            "took {reached:.0} of {} msg/s offered",
            evidence.rate
        ));
    }
    if faults.is_empty() {
        Verdict::Sustained
    } else {
        Verdict::Failed(faults)
    }
}

/// Which of the three did not hold a step that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GaveWay {
    Generator,
    Broker,
    Engine,
}

impl GaveWay {
    pub fn name(self) -> &'static str {
        match self {
            GaveWay::Generator => "generator",
            GaveWay::Broker => "broker",
            GaveWay::Engine => "engine",
        }
    }
}

/// From this much of a core on, while the broker's queue for it overflowed, an engine was too slow;
/// below it had time left and the broker did not get round to sending.
const ENGINE_BUSY_PCT: f64 = 85.0;

/// What is asked beside the verdict.
#[derive(Clone, Copy, Default)]
pub struct Signs {
    /// The broker's own count; a second old at most, so only its being there is asked for.
    pub dropped: u64,
    /// CPU of the engine while sending.
    pub busy_pct: f64,
    /// CPU of the broker in the first second after the end of sending: it still had a queue.
    pub broker_after_pct: f64,
}

/// From this much of a core on a broker was still delivering when nobody published any more.
const BROKER_DELIVERS_PCT: f64 = 25.0;

/// Who gave way: a late generator voids a step; where the engine had time left, what the broker
/// says it dropped and what it delivered late is the broker's; all else is the engine's.
pub fn gave_way(verdict: &Verdict, proof: &Proof, signs: Signs) -> Option<GaveWay> {
    let lost = signs.dropped > 0 && proof.missing > 0;
    let late = proof.exact() && signs.broker_after_pct > BROKER_DELIVERS_PCT;
    match verdict {
        Verdict::Sustained => None,
        Verdict::Void(_) => Some(GaveWay::Generator),
        Verdict::Failed(_) if (lost || late) && signs.busy_pct < ENGINE_BUSY_PCT => {
            Some(GaveWay::Broker)
        }
        Verdict::Failed(_) => Some(GaveWay::Engine),
    }
}

impl Verdict {
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Sustained => "sustained",
            Verdict::Void(_) => "void",
            Verdict::Failed(_) => "failed",
        }
    }

    pub fn reasons(&self) -> String {
        match self {
            Verdict::Sustained => String::new(),
            Verdict::Void(reason) => reason.clone(),
            Verdict::Failed(reasons) => reasons.join("; "),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(heaps: &[u64]) -> Vec<Second> {
        let second = |heap: &u64| Second {
            phase: "send",
            engine_anon_kib: *heap,
            ..Second::default()
        };
        heaps.iter().map(second).collect()
    }

    fn verdict(change: impl FnOnce(&mut Proof, &mut Done, &mut u64, &mut Vec<Second>)) -> Verdict {
        let mut proof = Proof {
            expected: 10,
            found: 10,
            ..Proof::default()
        };
        let mut done = Done {
            sent: 1_000,
            seconds: 1.0,
            ..Done::default()
        };
        let (mut late, mut list) = (900, seconds(&[1, 9_000, 9_000, 9_100]));
        change(&mut proof, &mut done, &mut late, &mut list);
        judge(&Evidence {
            proof: &proof,
            done: &done,
            seconds: &list,
            close_late_ms: late,
            rate: 1_000,
            open_loop: true,
            lag_ms_max: 200.0,
            strict: true,
            unseen: 0,
        })
    }

    #[test]
    fn all_rules_count() {
        assert_eq!(verdict(|_, _, _, _| {}), Verdict::Sustained);
        assert_eq!(verdict(|p, _, _, _| p.found = 9).word(), "failed");
        assert_eq!(verdict(|_, _, late, _| *late = 1_001).word(), "failed");
        assert_eq!(
            verdict(|_, _, _, s| *s = seconds(&[1, 1, 1, 3_000])).word(),
            "failed"
        );
        assert_eq!(verdict(|_, d, _, _| d.broken = 1).word(), "failed");
        // Late and wrong is void all the same: a late generator says nothing about the engine.
        let void = verdict(|p, d, _, _| {
            p.found = 9;
            d.lag_ms_max = 201.0;
        });
        assert_eq!(void.word(), "void");
    }

    #[test]
    fn heap_is_looked_at_in_the_second_half_only() {
        assert_eq!(heap_spread_kib(&seconds(&[1, 50_000, 7, 9])), Some(2));
        assert_eq!(heap_spread_kib(&[]), None);
    }

    #[test]
    fn who_gave_way_is_told_apart() {
        let proof = |missing| Proof {
            missing,
            ..Proof::default()
        };
        let failed = Verdict::Failed(vec!["proof".to_string()]);
        let who = |verdict: &Verdict, missing, dropped, busy_pct, broker_after_pct| {
            let signs = Signs {
                dropped,
                busy_pct,
                broker_after_pct,
            };
            gave_way(verdict, &proof(missing), signs).map(GaveWay::name)
        };
        assert_eq!(who(&Verdict::Sustained, 0, 0, 10.0, 90.0), None);
        let void = Verdict::Void(String::new());
        assert_eq!(who(&void, 9, 9, 99.0, 0.0), Some("generator"));
        assert_eq!(who(&failed, 9, 9, 10.0, 0.0), Some("broker"));
        assert_eq!(who(&failed, 9, 9, 99.0, 0.0), Some("engine"));
        // Lost although the broker dropped nothing: the engine's, however idle it was.
        assert_eq!(who(&failed, 9, 0, 10.0, 90.0), Some("engine"));
        assert_eq!(who(&failed, 0, 9, 10.0, 0.0), Some("engine"));
        // All there, but late: whose queue was it?
        assert_eq!(who(&failed, 0, 0, 10.0, 90.0), Some("broker"));
        assert_eq!(who(&failed, 0, 0, 99.0, 90.0), Some("engine"));
    }

    #[test]
    fn a_line_that_was_never_seen_fails_a_latency_step() {
        let proof = Proof::default();
        let done = Done {
            sent: 1,
            seconds: 1.0,
            ..Done::default()
        };
        let verdict = judge(&Evidence {
            proof: &proof,
            done: &done,
            seconds: &[],
            close_late_ms: 0,
            rate: 1,
            open_loop: true,
            lag_ms_max: 200.0,
            strict: false,
            unseen: 1,
        });
        assert_eq!(verdict.word(), "failed");
    }
}
