//! Durations in Go's notation: `1h30m`, `1.5s`, `-20ms`.

use crate::{Error, Result};

const UNITS: [(&str, i64); 8] = [
    ("ns", 1),
    ("us", 1_000),
    ("µs", 1_000),
    ("μs", 1_000),
    ("ms", 1_000_000),
    ("s", 1_000_000_000),
    ("m", 60_000_000_000),
    ("h", 3_600_000_000_000),
];

/// Nanoseconds of a duration text: an optional sign and numbers with units `ns us ms s m h`, each
/// with a fraction if wanted; a bare `0` too.
pub fn parse_duration(text: &str) -> Result<i64> {
    let bad = || {
        Error::new(format!(
            "invalid duration {text:?}: numbers with units ns, us, ms, s, m or h are wanted, \
             as in 1h30m"
        ))
    };
    let (negative, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if rest == "0" {
        return Ok(0);
    }
    if rest.is_empty() {
        return Err(bad());
    }
    let mut total: i128 = 0;
    while !rest.is_empty() {
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .ok_or_else(bad)?;
        let (number, after) = rest.split_at(end);
        let unit_end = after
            .find(|c: char| c.is_ascii_digit() || c == '.')
            .unwrap_or(after.len());
        let (unit, next) = after.split_at(unit_end);
        let scale = UNITS
            .iter()
            .find(|(name, _)| *name == unit)
            .ok_or_else(bad)?
            .1;
        total += nanos(number, scale).ok_or_else(bad)?;
        if total > i128::from(i64::MAX) + 1 {
            return Err(bad());
        }
        rest = next;
    }
    let signed = if negative { -total } else { total };
    i64::try_from(signed).map_err(|_| bad())
}

/// The same in milliseconds, rounded down.
pub fn parse_duration_ms(text: &str) -> Result<i64> {
    Ok(parse_duration(text)?.div_euclid(1_000_000))
}

fn nanos(number: &str, scale: i64) -> Option<i128> {
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if (whole.is_empty() && fraction.is_empty()) || fraction.contains('.') {
        return None;
    }
    let mut value: i128 = 0;
    for digit in whole.bytes() {
        value = value * 10 + i128::from(digit - b'0');
        if value > i128::from(i64::MAX) + 1 {
            return None;
        }
    }
    value *= i128::from(scale);
    let mut place = i128::from(scale);
    let mut part: i128 = 0;
    let mut divisor: i128 = 1;
    // 18 digits say more than a nanosecond of an hour; the others change nothing.
    for digit in fraction.bytes().take(18) {
        divisor *= 10;
        part = part * 10 + i128::from(digit - b'0');
    }
    place = part * place / divisor;
    Some(value + place)
}

/// Milliseconds as Go prints a duration: `0s`, `500ms`, `1.5s`, `5m0s`, `1h0m0s`.
pub fn go_duration(ms: i64) -> String {
    go_nanos(i128::from(ms) * 1_000_000)
}

/// The same of nanoseconds, which may be `1.5µs` and `20ns` as well.
pub fn go_duration_ns(ns: i64) -> String {
    go_nanos(i128::from(ns))
}

fn go_nanos(ns: i128) -> String {
    let sign = if ns < 0 { "-" } else { "" };
    let n = ns.unsigned_abs();
    match n {
        0 => "0s".to_owned(),
        1..1_000 => format!("{sign}{n}ns"),
        1_000..1_000_000 => format!("{sign}{}µs", decimal(n, 3)),
        1_000_000..1_000_000_000 => format!("{sign}{}ms", decimal(n, 6)),
        _ => {
            let minutes = n / 60_000_000_000;
            let seconds = decimal(n % 60_000_000_000, 9);
            match (minutes / 60, minutes % 60) {
                (0, 0) => format!("{sign}{seconds}s"),
                (0, m) => format!("{sign}{m}m{seconds}s"),
                (h, m) => format!("{sign}{h}h{m}m{seconds}s"),
            }
        }
    }
}

/// `n` divided by 10^places, without needless zeros.
fn decimal(n: u128, places: u32) -> String {
    let unit = 10u128.pow(places);
    let (whole, rest) = (n / unit, n % unit);
    if rest == 0 {
        return whole.to_string();
    }
    let digits = format!("{rest:0width$}", width = places as usize);
    format!("{whole}.{}", digits.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_go_durations() {
        let cases = [
            ("0", 0),
            ("0s", 0),
            ("1h30m", 5_400_000_000_000),
            ("-36h", -129_600_000_000_000),
            ("1.5h", 5_400_000_000_000),
            ("+1h", 3_600_000_000_000),
            (".5s", 500_000_000),
            ("1h2m3s4ms5us6ns", 3_723_004_005_006),
            ("2µs", 2_000),
            ("1.s", 1_000_000_000),
            ("-9223372036854775808ns", i64::MIN),
        ];
        for (text, want) in cases {
            assert_eq!(parse_duration(text), Ok(want), "{text}");
        }
        for text in [
            "",
            "1",
            "1d",
            "s",
            "-",
            "1..5s",
            ".s",
            "1h ",
            " 1h",
            "9223372036854775808ns",
            "99999999999999999999h",
            "1x",
        ] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
        assert_eq!(parse_duration_ms("1500us"), Ok(1));
    }

    #[test]
    fn prints_go_durations() {
        let cases = [
            (0, "0s"),
            (1000, "1s"),
            (1500, "1.5s"),
            (300_000, "5m0s"),
            (20, "20ms"),
            (3_600_000, "1h0m0s"),
            (-90_500, "-1m30.5s"),
            (86_400_000, "24h0m0s"),
        ];
        for (ms, want) in cases {
            assert_eq!(go_duration(ms), want);
        }
        assert_eq!(go_duration_ns(1_500), "1.5µs");
        assert_eq!(go_duration_ns(999), "999ns");
        assert_eq!(go_duration(i64::MIN).chars().next(), Some('-'));
    }
}
