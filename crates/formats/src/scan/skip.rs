//! Single values: as a cell where somebody reads them, validated in any case.

use rekuiper_value::cell::CELL_LEN_MAX;
use rekuiper_value::json::JSON_DEPTH_MAX;
use rekuiper_value::{Cell, CellKind};

use super::fault::{Fault, What};
use super::{number, text};

/// The byte at `at`, 0 beyond the end.
#[inline(always)]
pub fn byte(buf: &[u8], at: usize, end: usize) -> u8 {
    if at < end { buf.get(at).copied().unwrap_or(0) } else { 0 }
}

#[inline(always)]
pub fn skip_space(buf: &[u8], mut at: usize, end: usize) -> usize {
    while matches!(byte(buf, at, end), b' ' | b'\t' | b'\n' | b'\r') {
        at += 1;
    }
    at
}

pub fn whole(from: usize, at: usize) -> Result<Cell, Fault> {
    cell(CellKind::Object, from, at)
}

#[inline(always)]
fn cell(kind: CellKind, from: usize, to: usize) -> Result<Cell, Fault> {
    if to - from > CELL_LEN_MAX || to > u32::MAX as usize {
        return Err(Fault::new(What::TooLong, from));
    }
    Ok(Cell::new(kind, from, to - from))
}

/// A key with its colon and the blanks behind it: the key's inside and where the value starts.
#[inline(always)]
pub fn key(buf: &[u8], at: usize, end: usize) -> Result<(&[u8], usize), Fault> {
    if byte(buf, at, end) != b'"' {
        return Err(Fault::new(What::Key, at));
    }
    let after = text::skip(buf, at, end)?;
    let inside = buf.get(at + 1..after - 1).unwrap_or(&[]);
    let mut at = after;
    if byte(buf, at, end) != b':' {
        at = skip_space(buf, at, end);
        if byte(buf, at, end) != b':' {
            return Err(Fault::new(What::Colon, at));
        }
    }
    Ok((inside, skip_space(buf, at + 1, end)))
}

/// A needed value as a cell, and the position behind it.
#[inline(always)]
pub fn cell_value(buf: &[u8], at: usize, end: usize) -> Result<(Cell, usize), Fault> {
    match byte(buf, at, end) {
        b'"' => {
            let (kind, after) = text::scan(buf, at, end)?;
            Ok((cell(kind, at + 1, after - 1)?, after))
        }
        b'-' | b'0'..=b'9' => {
            let (kind, after) = number::scan(buf, at)?;
            Ok((cell(kind, at, after)?, after))
        }
        b't' => Ok((cell(CellKind::True, at, at + 4)?, word(buf, at, end, b"true")?)),
        b'f' => Ok((cell(CellKind::False, at, at + 5)?, word(buf, at, end, b"false")?)),
        b'n' => Ok((cell(CellKind::Null, at, at + 4)?, word(buf, at, end, b"null")?)),
        b'{' => {
            let after = members(buf, at, end, 1)?;
            Ok((cell(CellKind::Object, at, after)?, after))
        }
        b'[' => {
            let after = items(buf, at, end, 1)?;
            Ok((cell(CellKind::Array, at, after)?, after))
        }
        _ => Err(Fault::new(What::Value, at)),
    }
}

/// A value that nobody reads: validated, and the position behind it. `depth` is that of the value.
#[inline(always)]
pub fn value(buf: &[u8], at: usize, end: usize, depth: usize) -> Result<usize, Fault> {
    match byte(buf, at, end) {
        b'"' => text::skip(buf, at, end),
        b'-' | b'0'..=b'9' => Ok(number::scan(buf, at)?.1),
        b't' => word(buf, at, end, b"true"),
        b'f' => word(buf, at, end, b"false"),
        b'n' => word(buf, at, end, b"null"),
        b'{' => members(buf, at, end, depth),
        b'[' => items(buf, at, end, depth),
        _ => Err(Fault::new(What::Value, at)),
    }
}

#[inline(always)]
fn word(buf: &[u8], at: usize, end: usize, word: &[u8]) -> Result<usize, Fault> {
    let after = at + word.len();
    if after <= end && buf.get(at..after) == Some(word) {
        Ok(after)
    } else {
        Err(Fault::new(What::Value, at))
    }
}

/// A nested object, validated only.
fn members(buf: &[u8], start: usize, end: usize, depth: usize) -> Result<usize, Fault> {
    let mut at = skip_space(buf, start + 1, end);
    if byte(buf, at, end) == b'}' && depth <= JSON_DEPTH_MAX {
        return Ok(at + 1);
    }
    // what it holds is one level deeper still
    if depth >= JSON_DEPTH_MAX {
        return Err(Fault::new(What::TooDeep, start));
    }
    loop {
        let (_, value_at) = key(buf, at, end)?;
        at = value(buf, value_at, end, depth + 1)?;
        at = skip_space(buf, at, end);
        match byte(buf, at, end) {
            b',' => at = skip_space(buf, at + 1, end),
            b'}' => return Ok(at + 1),
            _ => return Err(Fault::new(What::CommaOrBrace, at)),
        }
    }
}

/// A nested array, validated only.
fn items(buf: &[u8], start: usize, end: usize, depth: usize) -> Result<usize, Fault> {
    let mut at = skip_space(buf, start + 1, end);
    if byte(buf, at, end) == b']' && depth <= JSON_DEPTH_MAX {
        return Ok(at + 1);
    }
    // what it holds is one level deeper still
    if depth >= JSON_DEPTH_MAX {
        return Err(Fault::new(What::TooDeep, start));
    }
    loop {
        at = value(buf, at, end, depth + 1)?;
        at = skip_space(buf, at, end);
        match byte(buf, at, end) {
            b',' => at = skip_space(buf, at + 1, end),
            b']' => return Ok(at + 1),
            _ => return Err(Fault::new(What::CommaOrBracket, at)),
        }
    }
}
