//! Durations as rules have them: a number of milliseconds or a Go text (`1h30m`, `500ms`), shown
//! in Go's form (`1h30m0s`).

use serde_json::Value;

const UNITS: [(&str, f64); 8] = [
    ("ns", 1.0),
    ("us", 1e3),
    ("µs", 1e3),
    ("μs", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("m", 60e9),
    ("h", 3600e9),
];

/// The value in Go's form; what is no duration stays as it is.
pub fn shown(v: &Value) -> Value {
    let nanos = match v {
        Value::Number(n) => n.as_i64().and_then(|ms| ms.checked_mul(1_000_000)),
        Value::String(text) => parse(text),
        _ => None,
    };
    nanos.map_or_else(|| v.clone(), |n| Value::from(format(n)))
}

fn parse(text: &str) -> Option<i64> {
    if text == "0" {
        return Some(0);
    }
    let (sign, mut rest) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let mut sum = 0.0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = rest[..digits].parse().ok()?;
        rest = &rest[digits..];
        let unit = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        let (_, nanos) = UNITS.iter().find(|(name, _)| *name == &rest[..unit])?;
        sum += number * nanos;
        rest = &rest[unit..];
    }
    (sum < 9e18).then_some((sign * sum) as i64)
}

fn format(nanos: i64) -> String {
    let sign = if nanos < 0 { "-" } else { "" };
    let n = nanos.unsigned_abs();
    if n == 0 {
        return "0s".into();
    }
    if n < 1_000_000_000 {
        let (unit, size) = match n {
            0..1_000 => ("ns", 1),
            1_000..1_000_000 => ("µs", 1_000),
            _ => ("ms", 1_000_000),
        };
        return format!("{sign}{}{unit}", fraction(n, size));
    }
    let (hours, minutes) = (n / 3_600_000_000_000, n / 60_000_000_000 % 60);
    let seconds = fraction(n % 60_000_000_000, 1_000_000_000);
    match (hours, minutes) {
        (0, 0) => format!("{sign}{seconds}s"),
        (0, m) => format!("{sign}{m}m{seconds}s"),
        (h, m) => format!("{sign}{h}h{m}m{seconds}s"),
    }
}

fn fraction(n: u64, size: u64) -> String {
    let (whole, part) = (n / size, n % size);
    if part == 0 {
        return whole.to_string();
    }
    let digits = size.ilog10() as usize;
    format!("{whole}.{}", format!("{part:0digits$}").trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_milliseconds_and_texts_are_go_durations() {
        let of = |v: Value| shown(&v);
        assert_eq!(of(Value::from(1000)), "1s");
        assert_eq!(of(Value::from(300_000)), "5m0s");
        assert_eq!(of(Value::from("1h30m")), "1h30m0s");
        assert_eq!(of(Value::from("1.5s")), "1.5s");
        assert_eq!(of(Value::from("1500us")), "1.5ms");
        assert_eq!(of(Value::from("-2m")), "-2m0s");
        assert_eq!(of(Value::from(0)), "0s");
    }

    #[test]
    fn what_is_no_duration_stays() {
        for v in [Value::from("soon"), Value::from(""), Value::from("5"), Value::Null] {
            assert_eq!(shown(&v), v);
        }
    }
}
