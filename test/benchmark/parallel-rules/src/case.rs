//! The cases: what is sent, which rules read it, what must come out.

use serde_json::{Value, json};

/// Temperatures are ten-thousandths of a degree below 100; a message's is a permutation of its
/// index, so that every window of messages holds all sizes.
const STEPS: u64 = 1_000_000;
const STRIDE: u64 = 617_363;
pub const DEVICES: u64 = 1_000;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// Every rule lets its own hundredth pass, into a file of its own.
    P1,
    /// Every rule lets everything pass, to nop.
    P2,
    /// Half filter and compute, half count per device in windows; all into files.
    P3,
}

impl Case {
    pub fn parse(text: &str) -> Result<Case, String> {
        match text {
            "p1" => Ok(Case::P1),
            "p2" => Ok(Case::P2),
            "p3" => Ok(Case::P3),
            _ => Err(format!("unknown case {text}: expected p1, p2, p3 or idle")),
        }
    }

    pub fn id(self) -> &'static str {
        match self {
            Case::P1 => "p1",
            Case::P2 => "p2",
            Case::P3 => "p3",
        }
    }

    pub fn default_rules(self) -> u64 {
        if self == Case::P3 { 200 } else { 1_000 }
    }

    pub fn default_rate(self) -> u64 {
        match self {
            Case::P1 => 10_000,
            Case::P2 => 5_000,
            Case::P3 => 20_000,
        }
    }

    /// Whether rule `r` counts in windows.
    pub fn is_window(self, rule: u64) -> bool {
        self == Case::P3 && rule % 2 == 1
    }

    /// The rule's threshold in ten-thousandths. P1: 98.95 to 99.05, each its own.
    fn threshold(self, rule: u64, rules: u64) -> u64 {
        match self {
            Case::P1 => 989_500 + rule * 1_000 / rules.max(1),
            _ => 210_000,
        }
    }

    /// Whether message `i` passes rule `rule`.
    pub fn passes(self, rule: u64, rules: u64, i: u64) -> bool {
        self == Case::P2 || self.is_window(rule) || temp(i) > self.threshold(rule, rules)
    }

    pub fn sql(self, rule: u64, rules: u64) -> String {
        let above = decimal(self.threshold(rule, rules));
        match self {
            Case::P2 => "SELECT * FROM telem".into(),
            _ if self.is_window(rule) => "SELECT device, count(*) AS n, avg(temp), max(speed) \
                FROM telem GROUP BY device, TUMBLINGWINDOW(ss, 10)"
                .into(),
            _ => format!(
                "SELECT id, device, temp, speed * 3.6 AS speed_kmh FROM telem WHERE temp > {above}"
            ),
        }
    }

    pub fn action(self, path: &str) -> Value {
        match self {
            Case::P2 => json!({"nop": {}}),
            _ => json!({"file": {
                "path": path, "fileType": "lines", "format": "json", "sendSingle": true,
                "rollingCount": 2_000_000_000_u64, "checkInterval": "24h",
            }}),
        }
    }
}

/// Temperature of message `i` in ten-thousandths.
pub fn temp(i: u64) -> u64 {
    i % STEPS * STRIDE % STEPS
}

/// Tenths of km/h below 100.
pub fn speed(i: u64) -> u64 {
    100 + i * 7_919 % 900
}

pub fn device(i: u64) -> u64 {
    i % DEVICES
}

/// Ten-thousandths as text that no printer would write otherwise: no zeros at the end.
fn decimal(ten_thousandths: u64) -> String {
    let text = format!("{}.{:04}", ten_thousandths / 10_000, ten_thousandths % 10_000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Message `i`, of W1's form and size.
pub fn payload(i: u64) -> String {
    let speed = speed(i);
    format!(
        "{{\"id\":{},\"device\":\"dev-{:04}\",\"ts\":{},\"temp\":{},\"humidity\":45.1,\
         \"speed\":{}.{},\"status\":\"running\",\
         \"line\":{{\"site\":\"a{}\",\"cell\":\"c{:02}\"}}}}",
        1_000_000_000 + i,
        device(i),
        1_760_000_000_000 + i,
        decimal(temp(i)),
        speed / 10,
        speed % 10,
        i % 9,
        i % 100
    )
}

/// The line that a filtering rule writes for message `i`.
pub fn line(i: u64) -> String {
    let kmh = speed(i) as f64 / 10.0 * 3.6;
    format!(
        "{{\"id\":{},\"device\":\"dev-{:04}\",\"temp\":{},\"speed_kmh\":{}}}",
        1_000_000_000 + i,
        device(i),
        decimal(temp(i)),
        kmh
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_in_a_hundred_passes_and_every_rule_has_its_own_threshold() {
        for rule in [0, 1, 499, 999] {
            let passed = (0..STEPS).filter(|i| Case::P1.passes(rule, 1_000, *i)).count();
            assert!((9_400..=10_600).contains(&passed), "{passed}");
        }
        let all: std::collections::HashSet<String> =
            (0..1_000).map(|r| Case::P1.sql(r, 1_000)).collect();
        assert_eq!(all.len(), 1_000);
    }

    #[test]
    fn payloads_have_the_size_of_w1() {
        for i in [0, 1, 999, 123_456] {
            let text = payload(i);
            assert!((135..=160).contains(&text.len()), "{} B: {text}", text.len());
            serde_json::from_str::<Value>(&text).expect("JSON");
        }
    }
}
