//! The reference loop: finds four members by their names, compares, multiplies, writes the line.
//! It validates nothing and knows where the members stand; no engine can be faster for long.
//!
//! It must not be made faster or slower: what it costs is the unit of `baseline.json`.

use memchr::memmem::Finder;

/// Text between the name and the next comma.
fn member<'a>(payload: &'a [u8], name: &Finder<'_>) -> &'a [u8] {
    let Some(at) = name.find(payload) else { return b"" };
    let rest = &payload[at + name.needle().len()..];
    let end = memchr::memchr(b',', rest).unwrap_or(rest.len());
    &rest[..end]
}

/// A number of few digits with a point.
fn number(text: &[u8]) -> f64 {
    let (mut digits, mut places) = (0u64, None);
    for byte in text {
        match byte {
            b'.' => places = Some(0u32),
            digit => {
                digits = digits * 10 + u64::from(digit.wrapping_sub(b'0'));
                places = places.map(|p| p + 1);
            }
        }
    }
    digits as f64 / 10f64.powi(places.unwrap_or(0) as i32)
}

/// Appends the line of every payload that passes.
pub fn run(payloads: &[Vec<u8>], out: &mut Vec<u8>) {
    let finders = ["\"id\":", "\"device\":", "\"temp\":", "\"speed\":"].map(Finder::new);
    let mut buffer = ryu::Buffer::new();
    for payload in payloads {
        let temp = member(payload, &finders[2]);
        if number(temp) <= 21.0 {
            continue;
        }
        out.extend_from_slice(b"{\"id\":");
        out.extend_from_slice(member(payload, &finders[0]));
        out.extend_from_slice(b",\"device\":");
        out.extend_from_slice(member(payload, &finders[1]));
        out.extend_from_slice(b",\"temp\":");
        out.extend_from_slice(temp.strip_suffix(b".0").unwrap_or(temp));
        out.extend_from_slice(b",\"speed_kmh\":");
        let kmh = buffer.format_finite(number(member(payload, &finders[3])) * 3.6);
        out.extend_from_slice(kmh.strip_suffix(".0").unwrap_or(kmh).as_bytes());
        out.extend_from_slice(b"}\n");
    }
}
