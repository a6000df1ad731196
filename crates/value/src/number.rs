//! Numbers as text: a quick exact reader for the short decimals that devices send, and the three
//! ways in which eKuiper prints doubles.

use std::cmp::Ordering;

const POW10: [f64; 23] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
];

/// Reads JSON number text. Up to 15 digits without exponent go the short way (mantissa and power
/// of ten are both exact, so one division rounds once); the rest goes through the standard
/// library. `None` when the text is no number.
#[inline]
pub fn parse_f64(text: &[u8]) -> Option<f64> {
    let (negative, digits) = match text.first() {
        Some(b'-') => (true, &text[1..]),
        _ => (false, text),
    };
    if digits.len() <= 16 {
        let mut mantissa: u64 = 0;
        let mut count = 0usize;
        let mut point = usize::MAX;
        for (at, &b) in digits.iter().enumerate() {
            let d = b.wrapping_sub(b'0');
            if d < 10 {
                mantissa = mantissa * 10 + u64::from(d);
                count += 1;
            } else if b == b'.' && point == usize::MAX {
                point = at;
            } else {
                return parse_f64_slow(text);
            }
        }
        if count == 0 || count > 15 {
            return parse_f64_slow(text);
        }
        let places = if point == usize::MAX { 0 } else { digits.len() - 1 - point };
        let f = mantissa as f64 / POW10[places];
        return Some(if negative { -f } else { f });
    }
    parse_f64_slow(text)
}

#[cold]
fn parse_f64_slow(text: &[u8]) -> Option<f64> {
    let first = *text.first()?;
    if !(first == b'-' || first == b'.' || first.is_ascii_digit()) {
        return None; // "inf" and "nan" are no numbers of ours
    }
    let f = std::str::from_utf8(text).ok()?.parse::<f64>().ok()?;
    f.is_finite().then_some(f)
}

/// Reads a whole number; `None` when it is not one or does not fit.
#[inline]
pub fn parse_i64(text: &[u8]) -> Option<i64> {
    let (negative, digits) = match text.first() {
        Some(b'-') => (true, &text[1..]),
        _ => (false, text),
    };
    if digits.is_empty() || digits.len() > 19 {
        return None;
    }
    let mut n: u64 = 0;
    for &b in digits {
        let d = b.wrapping_sub(b'0');
        if d > 9 {
            return None;
        }
        n = n.checked_mul(10)?.checked_add(u64::from(d))?;
    }
    if negative {
        (n <= 1 << 63).then(|| (n as i64).wrapping_neg())
    } else {
        i64::try_from(n).ok()
    }
}

/// Exact order of an integer and a double; `None` for NaN.
pub fn cmp_int_float(i: i64, f: f64) -> Option<Ordering> {
    if f.is_nan() {
        return None;
    }
    if f >= 9_223_372_036_854_775_808.0 {
        return Some(Ordering::Less);
    }
    if f < -9_223_372_036_854_775_808.0 {
        return Some(Ordering::Greater);
    }
    let whole = f.trunc();
    match i.cmp(&(whole as i64)) {
        Ordering::Equal => 0.0_f64.partial_cmp(&(f - whole)),
        other => Some(other),
    }
}

/// JSON form: shortest digits, no point for whole numbers, exponent below 1e-6 and from 1e21.
/// The caller has made sure that `f` is finite.
#[inline]
pub fn write_json_f64(out: &mut Vec<u8>, f: f64) {
    let a = f.abs();
    if a < 1e15 {
        let whole = f as i64;
        if whole as f64 == f {
            if f == 0.0 && f.is_sign_negative() {
                out.extend_from_slice(b"-0");
            } else {
                write_i64(out, whole);
            }
            return;
        }
        if a >= 1e-5 {
            let mut buffer = zmij::Buffer::new();
            out.extend_from_slice(buffer.format_finite(f).as_bytes());
            return;
        }
    }
    write_json_far(out, f);
}

/// The rest of [`write_json_f64`]: very large or very small.
#[cold]
fn write_json_far(out: &mut Vec<u8>, f: f64) {
    let mut buffer = zmij::Buffer::new();
    let parts = Parts::of(buffer.format_finite(f));
    if (1e-6..1e21).contains(&f.abs()) { parts.positional(out) } else { parts.exponent(out, 1) }
}

/// Text form of `%v`: exponent (two digits at least) where the decimal exponent is below -4 or
/// above 20 in general, but above 5 for the shortest form: `1e+06`, `1.5e+06`, `123456`.
pub fn write_go_f64(out: &mut Vec<u8>, f: f64) {
    if !f.is_finite() {
        let text: &[u8] = if f.is_nan() {
            b"NaN"
        } else if f > 0.0 {
            b"+Inf"
        } else {
            b"-Inf"
        };
        out.extend_from_slice(text);
        return;
    }
    let mut buffer = zmij::Buffer::new();
    let parts = Parts::of(buffer.format_finite(f));
    let exp = parts.point - 1;
    if !parts.is_zero() && !(-4..21).contains(&exp) || (exp >= 6 && !parts.is_zero()) {
        parts.exponent(out, 2);
    } else {
        parts.positional(out);
    }
}

/// Shortest digits, never an exponent: what cast(x, "string") gives.
pub fn write_plain_f64(out: &mut Vec<u8>, f: f64) {
    if !f.is_finite() {
        return write_go_f64(out, f);
    }
    let mut buffer = zmij::Buffer::new();
    Parts::of(buffer.format_finite(f)).positional(out);
}

#[inline]
pub fn write_i64(out: &mut Vec<u8>, i: i64) {
    let mut buffer = itoa::Buffer::new();
    out.extend_from_slice(buffer.format(i).as_bytes());
}

/// Digits and decimal point of a double's shortest form: 0.d1d2d3… × 10^point.
struct Parts {
    negative: bool,
    digits: smallvec::SmallVec<[u8; 24]>,
    point: i32,
}

impl Parts {
    fn of(text: &str) -> Self {
        let (negative, text) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let (mantissa, exp) = match text.split_once('e') {
            Some((m, e)) => (m, e.parse::<i32>().unwrap_or(0)),
            None => (text, 0),
        };
        let (whole, frac) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let mut digits: smallvec::SmallVec<[u8; 24]> = whole.bytes().chain(frac.bytes()).collect();
        let mut point = whole.len() as i32 + exp;
        let zeros = digits.iter().take_while(|&&b| b == b'0').count();
        digits.drain(..zeros);
        point -= zeros as i32;
        while digits.last() == Some(&b'0') {
            digits.pop();
        }
        if digits.is_empty() {
            digits.push(b'0');
            point = 1;
        }
        Parts { negative, digits, point }
    }

    fn is_zero(&self) -> bool {
        self.digits.as_slice() == b"0"
    }

    fn positional(&self, out: &mut Vec<u8>) {
        if self.negative {
            out.push(b'-');
        }
        let n = self.digits.len() as i32;
        if self.point <= 0 {
            out.extend_from_slice(b"0.");
            out.extend(std::iter::repeat_n(b'0', -self.point as usize));
            out.extend_from_slice(&self.digits);
        } else if self.point >= n {
            out.extend_from_slice(&self.digits);
            out.extend(std::iter::repeat_n(b'0', (self.point - n) as usize));
        } else {
            let (whole, frac) = self.digits.split_at(self.point as usize);
            out.extend_from_slice(whole);
            out.push(b'.');
            out.extend_from_slice(frac);
        }
    }

    fn exponent(&self, out: &mut Vec<u8>, width: usize) {
        if self.negative {
            out.push(b'-');
        }
        out.push(self.digits[0]);
        if self.digits.len() > 1 {
            out.push(b'.');
            out.extend_from_slice(&self.digits[1..]);
        }
        let exp = self.point - 1;
        out.push(b'e');
        out.push(if exp < 0 { b'-' } else { b'+' });
        let text = exp.unsigned_abs().to_string();
        out.extend(std::iter::repeat_n(b'0', width.saturating_sub(text.len())));
        out.extend_from_slice(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl Fn(&mut Vec<u8>, f64), f: f64) -> String {
        let mut out = Vec::new();
        write(&mut out, f);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn json_form() {
        let cases = [
            (1.0, "1"), (-0.0, "-0"), (1.5, "1.5"), (1e21, "1e+21"),
            (1e20, "100000000000000000000"),
            (1e-7, "1e-7"), (0.000001, "0.000001"), (123456789012345680.0, "123456789012345680"),
            (1.2345678901234568e29, "1.2345678901234568e+29"), (-2.5e-10, "-2.5e-10"),
        ];
        for (f, want) in cases {
            assert_eq!(text(write_json_f64, f), want);
        }
    }

    #[test]
    fn go_form() {
        let cases = [
            (1000000.0, "1e+06"), (123456.0, "123456"), (1500000.0, "1.5e+06"), (0.00001, "1e-05"),
            (0.0001, "0.0001"), (0.0, "0"), (72.5, "72.5"), (-1e100, "-1e+100"),
        ];
        for (f, want) in cases {
            assert_eq!(text(write_go_f64, f), want);
        }
        assert_eq!(text(write_plain_f64, 1e21), "1000000000000000000000");
        assert_eq!(text(write_plain_f64, 1e-7), "0.0000001");
    }

    #[test]
    fn reading() {
        for t in ["0", "-0", "1", "21.5", "-3.25", "123456789012345", "1234567890123456789", "1e3",
            "0.1", "2.2250738585072014e-308", "179769313486231570000000", "99999.99999"] {
            assert_eq!(parse_f64(t.as_bytes()), t.parse::<f64>().ok(), "{t}");
        }
        for t in ["", "-", ".", "abc", "1.2.3", "nan", "inf", "1e999"] {
            assert_eq!(parse_f64(t.as_bytes()), None, "{t}");
        }
        assert_eq!(parse_i64(b"-9223372036854775808"), Some(i64::MIN));
        assert_eq!(parse_i64(b"9223372036854775808"), None);
        assert_eq!(parse_i64(b"1.0"), None);
    }

    #[test]
    fn exact_order() {
        assert_eq!(cmp_int_float(9007199254740993, 9007199254740992.0), Some(Ordering::Greater));
        assert_eq!(cmp_int_float(-1, -1.5), Some(Ordering::Greater));
        assert_eq!(cmp_int_float(i64::MAX, 9.3e18), Some(Ordering::Less));
    }
}
