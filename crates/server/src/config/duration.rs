//! Durations as eKuiper writes them: `300ms`, `1.5s`, `2h45m`; bare numbers are milliseconds.

use serde_json::Value;

const UNITS: [(&str, f64); 8] = [
    ("ns", 1e-6),
    ("us", 1e-3),
    ("\u{b5}s", 1e-3),
    ("\u{3bc}s", 1e-3),
    ("ms", 1.0),
    ("s", 1e3),
    ("m", 6e4),
    ("h", 3.6e6),
];

/// Milliseconds of a Go duration.
pub fn parse(text: &str) -> Option<i64> {
    let (sign, mut rest) = match text.as_bytes().first()? {
        b'-' => (-1.0, &text[1..]),
        b'+' => (1.0, &text[1..]),
        _ => (1.0, text),
    };
    if rest == "0" {
        return Some(0);
    }
    if rest.is_empty() {
        return None;
    }
    let mut ms = 0.0;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..end].parse().ok()?;
        let tail = &rest[end..];
        let unit_end = tail
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(tail.len());
        let unit = UNITS.iter().find(|(u, _)| *u == &tail[..unit_end])?.1;
        ms += number * unit;
        rest = &tail[unit_end..];
    }
    (ms.abs() < 9e15).then_some((sign * ms) as i64)
}

/// A duration of a configuration: text, or a number of milliseconds.
pub fn of(v: &Value) -> Option<i64> {
    match v {
        Value::String(s) => parse(s),
        Value::Number(n) => n.as_i64().or_else(|| n.as_f64().map(|f| f as i64)),
        _ => None,
    }
}

/// As Go writes it: `5m0s`, `1.5s`, `300ms`, `0s`.
pub fn show(ms: i64) -> String {
    if ms == 0 {
        return "0s".into();
    }
    let sign = if ms < 0 { "-" } else { "" };
    let abs = ms.unsigned_abs();
    if abs < 1000 {
        return format!("{sign}{abs}ms");
    }
    let (hours, minutes, rest) = (abs / 3_600_000, abs / 60_000 % 60, abs % 60_000);
    let mut seconds = (rest / 1000).to_string();
    if rest % 1000 != 0 {
        seconds = format!("{seconds}.{:03}", rest % 1000)
            .trim_end_matches('0')
            .to_owned();
    }
    match (hours, minutes) {
        (0, 0) => format!("{sign}{seconds}s"),
        (0, m) => format!("{sign}{m}m{seconds}s"),
        (h, m) => format!("{sign}{h}h{m}m{seconds}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn forms() {
        for (text, ms) in [
            ("300ms", 300),
            ("1.5s", 1500),
            ("2h45m", 9_900_000),
            ("-1s", -1000),
            ("0", 0),
            ("1500us", 1),
            (".5s", 500),
        ] {
            assert_eq!(parse(text), Some(ms), "{text}");
        }
        for bad in ["", "1", "s", "1x", "soon", "1s 2s", "-", "1..s"] {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn shown_as_go_shows_them() {
        let all = [
            (0, "0s"),
            (1500, "1.5s"),
            (300_000, "5m0s"),
            (60_000, "1m0s"),
            (250, "250ms"),
            (259_200_000, "72h0m0s"),
        ];
        for (ms, text) in all {
            assert_eq!(show(ms), text);
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back(ms in -10_000_000_000i64..10_000_000_000) {
            prop_assert_eq!(parse(&show(ms)), Some(ms));
        }

        #[test]
        fn never_panics(text in ".*") {
            let _ = parse(&text);
        }
    }
}
