//! JSON numbers: their end, and whether their text is already its output form.

use rekuiper_value::{CellKind, number};

use super::block;
use super::fault::{Fault, What};

/// The number at `at` (a digit or minus stands there): its kind and the position behind it.
#[inline(always)]
pub fn scan(buf: &[u8], at: usize) -> Result<(CellKind, usize), Fault> {
    let byte = |i: usize| buf.get(at + i).copied().unwrap_or(0);
    let minus = usize::from(byte(0) == b'-');
    // bits beyond the block count as stops, so that a number that fills it goes the long way
    let stops = (block::non_digits(block::load(buf, at)) | 0x1_0000) >> minus;
    let whole = stops.trailing_zeros() as usize;
    let end = minus + whole;
    if end >= 16 || whole == 0 {
        return long(buf, at);
    }
    let zero = byte(minus) == b'0';
    if zero && whole > 1 {
        return Err(Fault::new(What::LeadingZero, at + minus));
    }
    match byte(end) {
        b'.' => {
            let fraction = (stops >> (whole + 1)).trailing_zeros() as usize;
            let last = end + fraction;
            if last + 1 >= 16 || fraction == 0 || byte(last + 1) | 0x20 == b'e' {
                return long(buf, at);
            }
            // at most 14 digits in all here: any such decimal survives the way through a double
            let canonical =
                byte(last) != b'0' && (!zero || positional(&buf[at + end + 1..=at + last]));
            let kind = if canonical { CellKind::Decimal } else { CellKind::Number };
            Ok((kind, at + last + 1))
        }
        b'e' | b'E' => long(buf, at),
        _ if zero && minus == 1 => Ok((CellKind::Number, at + end)),
        _ => Ok((CellKind::Int, at + end)),
    }
}

/// 0.00000… is printed with an exponent from the sixth zero on.
#[inline(always)]
fn positional(fraction: &[u8]) -> bool {
    fraction.first() != Some(&b'0') || fraction.iter().take_while(|&&b| b == b'0').count() <= 5
}

/// Long numbers and those with an exponent.
#[cold]
#[inline(never)]
fn long(buf: &[u8], start: usize) -> Result<(CellKind, usize), Fault> {
    let mut at = start;
    let peek = |at: usize| buf.get(at).copied().unwrap_or(0);
    let digits = |mut at: usize| {
        let from = at;
        while peek(at).is_ascii_digit() {
            at += 1;
        }
        if at == from { Err(Fault::new(What::Digit, at)) } else { Ok(at) }
    };
    if peek(at) == b'-' {
        at += 1;
    }
    let whole_from = at;
    at = digits(at)?;
    if peek(whole_from) == b'0' && at - whole_from > 1 {
        return Err(Fault::new(What::LeadingZero, whole_from));
    }
    let whole = at - whole_from;
    let mut fraction = 0;
    if peek(at) == b'.' {
        let end = digits(at + 1)?;
        fraction = end - at - 1;
        at = end;
    }
    let mut exponent = false;
    if peek(at) | 0x20 == b'e' {
        exponent = true;
        at += 1;
        if matches!(peek(at), b'+' | b'-') {
            at += 1;
        }
        at = digits(at)?;
    }
    let text = &buf[start..at];
    if (exponent || whole > 300) && number::parse_f64(text).is_none() {
        return Err(Fault::new(What::NumberRange, start));
    }
    if exponent || whole + fraction > 15 {
        return Ok((CellKind::Number, at));
    }
    if fraction == 0 {
        return Ok((if whole <= 15 { CellKind::Int } else { CellKind::Number }, at));
    }
    let mantissa = &buf[whole_from..at];
    let zeros = mantissa.iter().take_while(|&&b| b == b'0' || b == b'.').count();
    let canonical = mantissa.last() != Some(&b'0') && zeros <= 7;
    Ok((if canonical { CellKind::Decimal } else { CellKind::Number }, at))
}
