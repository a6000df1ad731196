//! The table of the suite `multicore`: what two half cores do, against one half and against one
//! whole core.

use std::fmt::Write;

use super::figures::{climbs, held, id};
use super::tables::{grouped, mean};
use crate::sample;
use crate::step::{Cores, Extra, Outcome};

/// Two cores must do so much more than one.
const SCALE_MIN: f64 = 1.7;
/// More than twice as much is no merit of two cores: the limit slowed the one.
const SCALE_MAX: f64 = 2.1;

pub fn figures(list: &[&Outcome]) -> String {
    let mut text = "| work | one whole core, msg/s | one half | two halves | two halves to one \
                    half, times | two halves to half of the whole, times | CPU us a message: \
                    whole, half, two | busiest thread's part with two | verdict |\n\
                    |---|---|---|---|---|---|---|---|---|\n"
        .to_string();
    for climb in climbs(list) {
        let of = |kind: Cores| {
            let same = |extra: &Extra| matches!(extra, Extra::Streams { on, .. } if *on == kind);
            let steps = climb.iter().filter(|o| same(&o.step.extra));
            steps.copied().collect::<Vec<_>>()
        };
        let all = [Cores::Whole, Cores::Half, Cores::TwoHalves].map(of);
        let [whole, half, two] = all.each_ref().map(|steps| median(steps, Outcome::rate_reached));
        let cost = |steps: &Vec<&Outcome>| median(steps, |o| o.cpu_us_per_message);
        let cost = all.each_ref().map(|steps| format!("{:.3}", cost(steps)));
        let scale = Scale { whole, half, two };
        let fault = climb.iter().find(|o| !held(o)).map(|o| o.verdict.reasons());
        // a step that could not be run is no outcome, and must not pass as a core that did nothing
        let fault = fault.or_else(|| uneven(all.each_ref().map(Vec::len)));
        let verdict = fault.map_or_else(|| scale.verdict(), |why| format!("NOT held: {why}"));
        let _ = writeln!(
            text,
            "| {} | {} | {} | {} | {:.2} | {:.2} | {} | {:.2} | {verdict} |",
            id(climb[0]),
            grouped(whole as u64),
            grouped(half as u64),
            grouped(two as u64),
            scale.to_half(),
            scale.to_whole(),
            cost.join(", "),
            median(&all[2], |o| busiest(&o.threads_s)),
        );
    }
    let rounds = list.iter().filter_map(|o| match o.step.extra {
        Extra::Streams { round, .. } => Some(round),
        _ => None,
    });
    let cpu = mean(list, |s| s.others_cpu_pct);
    let _ = writeln!(
        text,
        "\nMedians of {} rounds; peers and everybody else used {cpu:.0} % of a core.",
        rounds.max().unwrap_or(0)
    );
    text
}

/// Messages a second: on one whole core, on one half, on two halves.
struct Scale {
    whole: f64,
    half: f64,
    two: f64,
}

impl Scale {
    fn to_half(&self) -> f64 {
        self.two / self.half.max(1.0)
    }

    /// Two halves have what one whole core has: twice as much would be perfect here as well.
    fn to_whole(&self) -> f64 {
        2.0 * self.two / self.whole.max(1.0)
    }

    fn verdict(&self) -> String {
        if self.to_half().min(self.to_whole()) < SCALE_MIN {
            return format!("NOT held (>= {SCALE_MIN} both)");
        }
        if self.to_half() > SCALE_MAX {
            let only = "the limit slowed the one half, so only the second ratio says something";
            return format!("held; {only}");
        }
        "held".to_string()
    }
}

/// What is wrong when not all three have as many rounds.
fn uneven([whole, half, two]: [usize; 3]) -> Option<String> {
    let even = whole > 0 && whole == half && half == two;
    (!even).then(|| format!("{whole}, {half} and {two} rounds of the three"))
}

fn median(steps: &[&Outcome], of: impl Fn(&Outcome) -> f64) -> f64 {
    sample::middle(steps.iter().map(|o| of(o)).collect())
}

/// The part of all CPU that the busiest thread used.
fn busiest(threads: &[f64]) -> f64 {
    threads.first().unwrap_or(&0.0) / threads.iter().sum::<f64>().max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ratios_must_be_large_enough() {
        let verdict = |whole, half, two| Scale { whole, half, two }.verdict();
        assert_eq!(verdict(200.0, 100.0, 190.0), "held");
        assert_eq!(verdict(200.0, 100.0, 165.0), "NOT held (>= 1.7 both)");
        assert_eq!(verdict(240.0, 100.0, 190.0), "NOT held (>= 1.7 both)");
        assert!(verdict(200.0, 80.0, 180.0).starts_with("held; the limit slowed"));
        assert_eq!(verdict(0.0, 0.0, 0.0), "NOT held (>= 1.7 both)");
    }

    #[test]
    fn all_three_need_the_same_rounds() {
        assert_eq!(uneven([3, 3, 3]), None);
        assert!(uneven([0, 3, 3]).is_some());
        assert!(uneven([3, 3, 2]).is_some());
        assert!(uneven([0, 0, 0]).is_some());
    }
}
