//! What a member's value looked like last: the next one most likely has its digits, point and
//! quotes in the same places. Then the scanner need not find the value's end before it can go on
//! with the next member; it only checks, which the processor does beside.

use rekuiper_value::CellKind;

use super::block;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    None,
    Text,
    Number,
}

#[derive(Clone, Copy, Debug)]
pub struct Guess {
    class: Class,
    /// Bytes of the token, quotes included; at most 15, so that what follows is seen too.
    len: u8,
    /// Where the point is; 0 for none.
    point: u8,
    /// Where the digits start: 1 behind a minus.
    start: u8,
    /// Stops (quotes, non-digits) of the token and the byte behind it.
    stops: u32,
    /// The bits that `stops` speaks of.
    mask: u32,
}

impl Guess {
    pub const NONE: Guess =
        Guess { class: Class::None, len: 0, point: 0, start: 0, stops: 0, mask: 0 };

    /// From a value as it was scanned; `text` is the whole token.
    pub fn of(kind: CellKind, text: &[u8]) -> Self {
        let len = text.len();
        if len > 15 || len == 0 {
            return Guess::NONE;
        }
        let guess = Guess { len: len as u8, ..Guess::NONE };
        let mask = (2u32 << len) - 1;
        match kind {
            CellKind::Plain => {
                let quotes = 1 | 1 << (len - 1);
                Guess { class: Class::Text, stops: quotes, mask: mask >> 1, ..guess }
            }
            CellKind::Int | CellKind::Decimal | CellKind::Number => {
                let start = u8::from(text[0] == b'-');
                let point = text.iter().position(|&b| b == b'.').unwrap_or(0) as u8;
                let mut stops = u32::from(start) | 1 << len;
                if point > 0 {
                    stops |= 1 << point;
                }
                if kind == CellKind::Number && text.iter().any(|b| b | 0x20 == b'e') {
                    return Guess::NONE;
                }
                Guess { class: Class::Number, start, point, stops, mask, ..guess }
            }
            _ => Guess::NONE,
        }
    }

    /// The kind of the value at `at` and its length, if it looks as foreseen and `,` or `}` follows
    /// before `end`.
    #[inline(always)]
    pub fn check(&self, buf: &[u8], at: usize, end: usize) -> Option<(CellKind, usize)> {
        let chunk = block::chunk(buf, at)?;
        let len = usize::from(self.len & 15);
        if at + len >= end || !matches!(chunk[len], b',' | b'}') {
            return None;
        }
        let block = block::load(buf, at);
        match self.class {
            Class::Text => {
                let fits = block::string_stops(block) & self.mask == self.stops
                    && chunk[0] == b'"'
                    && chunk[(len - 1) & 15] == b'"'
                    && block::not_plain(block) & self.mask == 0;
                fits.then_some((CellKind::Plain, len))
            }
            Class::Number => {
                if block::non_digits(block) & self.mask != self.stops {
                    return None;
                }
                let start = usize::from(self.start & 1);
                if start == 1 && chunk[0] != b'-' {
                    return None;
                }
                let point = usize::from(self.point & 15);
                if chunk[start] == b'0' && !plain_zero(chunk, start, point, len) {
                    return None;
                }
                if point == 0 {
                    return Some((CellKind::Int, len));
                }
                if chunk[point] != b'.' {
                    return None;
                }
                let canonical = chunk[(len - 1) & 15] != b'0';
                Some((if canonical { CellKind::Decimal } else { CellKind::Number }, len))
            }
            Class::None => None,
        }
    }
}

/// Whether a number that begins with 0 is `0` or `0.1…`; others are looked at more closely.
#[inline(always)]
fn plain_zero(chunk: &[u8; 16], start: usize, point: usize, len: usize) -> bool {
    let digits_before = if point == 0 { len } else { point };
    start == 0 && digits_before == 1 && (point == 0 || chunk[2] != b'0')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scan::number;

    #[test]
    fn a_guess_says_the_same_as_the_scanner() {
        let texts = [
            "1",
            "12",
            "-1",
            "1.5",
            "-1.5",
            "1.50",
            "12.5",
            "0",
            "0.5",
            "01",
            "1.",
            "1e3",
            "123456789012345",
            "-12345678901234",
            "1.2.3",
            "--1",
            "1-2",
            "15",
            "-.5",
            "2.5e1",
        ];
        for guessed in texts {
            let Ok((kind, end)) = number::scan(guessed.as_bytes(), 0) else { continue };
            if end != guessed.len() {
                continue;
            }
            let guess = Guess::of(kind, guessed.as_bytes());
            for text in texts {
                let message = format!("{text},                 ");
                let Some(got) = guess.check(message.as_bytes(), 0, message.len()) else { continue };
                assert_eq!(Ok(got), number::scan(message.as_bytes(), 0), "{guessed} {text}");
            }
        }
    }
}
