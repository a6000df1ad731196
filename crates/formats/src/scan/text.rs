//! JSON strings: their end, and whether their text is already its output form.

use rekuiper_value::CellKind;

use super::block;
use super::fault::{Fault, What};

/// The position behind the string whose opening quote is at `at`.
#[inline(always)]
pub fn skip(buf: &[u8], at: usize, end: usize) -> Result<usize, Fault> {
    let stops = block::string_stops(block::load(buf, at + 1));
    let close = at + 1 + stops.trailing_zeros() as usize;
    // most strings are short and simple: the first stop within 16 bytes is the closing quote
    if stops != 0 && buf.get(close) == Some(&b'"') {
        return Ok(close + 1);
    }
    skip_long(buf, at, end)
}

#[inline(never)]
fn skip_long(buf: &[u8], start: usize, end: usize) -> Result<usize, Fault> {
    let mut at = start + 1;
    while at < end {
        let stops = block::string_stops(block::load(buf, at));
        if stops == 0 {
            at += 16;
            continue;
        }
        at += stops.trailing_zeros() as usize;
        if at >= end {
            break;
        }
        match buf.get(at) {
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => at += 2,
            _ => return Err(Fault::new(What::Control, at)),
        }
    }
    Err(Fault::new(What::StringEnd, start))
}

/// The same for a string that is needed: also the kind of its inside.
#[inline(always)]
pub fn scan(buf: &[u8], at: usize, end: usize) -> Result<(CellKind, usize), Fault> {
    let block = block::load(buf, at + 1);
    let stops = block::string_stops(block);
    let len = stops.trailing_zeros() as usize;
    let close = at + 1 + len;
    if stops != 0 && buf.get(close) == Some(&b'"') {
        // bits below the first stop
        let before = stops.wrapping_sub(1) & !stops;
        if block::not_plain(block) & before == 0 {
            return Ok((CellKind::Plain, close + 1));
        }
    }
    let after = skip_long(buf, at, end)?;
    Ok((kind_of(buf.get(at + 1..after - 1).unwrap_or(&[])), after))
}

/// Plain or Escaped, for a string's inside of any length.
#[cold]
#[inline(never)]
pub fn kind_of(inside: &[u8]) -> CellKind {
    let mut beyond_ascii = false;
    for &b in inside {
        if matches!(b, b'\\' | b'<' | b'>' | b'&') {
            return CellKind::Escaped;
        }
        beyond_ascii |= b >= 0x80;
    }
    if !beyond_ascii {
        return CellKind::Plain;
    }
    match std::str::from_utf8(inside) {
        Ok(text) if !text.contains(['\u{2028}', '\u{2029}']) => CellKind::Plain,
        _ => CellKind::Escaped,
    }
}
