//! Numbers and strings.

use super::{Lexer, Tok};
use crate::{ParseError, Span};

const ESCAPES: &str = "one of \\a \\b \\f \\n \\r \\t \\v \\\\, the quote, \\xHH, \\ooo, \\uHHHH, \
                       \\UHHHHHHHH; write a backslash as \\\\";

impl Lexer<'_> {
    pub(super) fn number(&mut self) -> Result<Tok, ParseError> {
        let start = self.at;
        self.digits();
        let mut float = false;
        if self.peek(0) == b'.' {
            float = true;
            self.at += 1;
            self.digits();
            if self.peek(0) == b'.' && self.peek(1).is_ascii_digit() {
                return self.error(start, "a number has one point", "");
            }
        }
        float |= self.exponent();
        let text = &self.text[start..self.at];
        if !float {
            // Leading zeros are harmless, so the length alone says nothing.
            return match text.parse::<u64>() {
                Ok(n) if n <= 1 << 63 => Ok(Tok::Int(n)),
                _ => {
                    let what = "the whole number does not fit 64 bits";
                    self.error(start, what, "at most 9223372036854775807")
                }
            };
        }
        match text.parse::<f64>() {
            Ok(n) if n.is_finite() => Ok(Tok::Float(n)),
            _ => self.error(start, "the number is too large for a float", ""),
        }
    }

    fn digits(&mut self) {
        while self.peek(0).is_ascii_digit() {
            self.at += 1;
        }
    }

    /// `e5`, `E-5`: only with digits, so that `1ELSE` stays two tokens.
    fn exponent(&mut self) -> bool {
        if !matches!(self.peek(0), b'e' | b'E') {
            return false;
        }
        let sign = usize::from(matches!(self.peek(1), b'+' | b'-'));
        if !self.peek(1 + sign).is_ascii_digit() {
            return false;
        }
        self.at += 1 + sign;
        self.digits();
        true
    }

    pub(super) fn string(&mut self, quote: u8) -> Result<Tok, ParseError> {
        let start = self.at;
        self.at += 1;
        loop {
            match self.bytes.get(self.at) {
                Some(b) if *b == quote => {
                    self.at += 1;
                    return Ok(Tok::Str);
                }
                Some(b'\\') => self.at += 2,
                Some(0) => {
                    let at = self.at;
                    self.at += 1;
                    return self.error(at, "a zero byte stands in a string", "the escape \\x00");
                }
                None | Some(b'\n') => {
                    self.at = start + 1;
                    return self.error(
                        start,
                        "the string is not closed on its line",
                        "the closing quote; write a line break as \\n",
                    );
                }
                Some(_) => self.at += 1,
            }
        }
    }
}

/// The value of a string token: `raw` with its quotes, `at` where it stands in the statement.
pub(crate) fn unescape(raw: &str, at: u32) -> Result<ecow::EcoString, ParseError> {
    let inner = raw.get(1..raw.len().saturating_sub(1)).unwrap_or("");
    if !inner.contains('\\') {
        return Ok(inner.into());
    }
    let single = raw.starts_with('\'');
    let mut out: Vec<u8> = Vec::with_capacity(inner.len());
    let mut rest = inner;
    while let Some(i) = rest.find('\\') {
        out.extend_from_slice(&rest.as_bytes()[..i]);
        let escape = &rest[i..];
        let used = one_escape(escape, single, &mut out).ok_or_else(|| {
            let from = at as usize + 1 + (inner.len() - escape.len());
            let len: usize = escape.chars().take(2).map(char::len_utf8).sum();
            let shown: String = escape.chars().take(2).collect();
            let what = format!("`{}` is no escape of a string", shown.escape_debug());
            ParseError::new(Span::new(from, from + len), what, ESCAPES)
        })?;
        rest = &escape[used..];
    }
    out.extend_from_slice(rest.as_bytes());
    // \xHH may make bytes that are no text; they become replacement characters, as in JSON.
    Ok(String::from_utf8_lossy(&out).as_ref().into())
}

/// Appends what the escape at the start of `text` stands for; gives its length.
fn one_escape(text: &str, single: bool, out: &mut Vec<u8>) -> Option<usize> {
    let code = *text.as_bytes().get(1)?;
    let byte = match code {
        b'a' => 7,
        b'b' => 8,
        b'f' => 12,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'v' => 11,
        b'\\' => b'\\',
        b'"' => b'"',
        b'\'' if single => b'\'',
        b'x' => {
            out.push(u8::try_from(digits(text, 2, 2, 16)?).ok()?);
            return Some(4);
        }
        b'0'..=b'7' => {
            out.push(u8::try_from(digits(text, 1, 3, 8)?).ok()?);
            return Some(4);
        }
        b'u' | b'U' => {
            let len = if code == b'u' { 4 } else { 8 };
            let c = char::from_u32(digits(text, 2, len, 16)?)?;
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            return Some(2 + len);
        }
        _ => return None,
    };
    out.push(byte);
    Some(2)
}

fn digits(text: &str, from: usize, len: usize, radix: u32) -> Option<u32> {
    let part = text.get(from..from + len)?;
    // from_str_radix alone would take a sign.
    part.chars().all(|c| c.is_digit(radix)).then_some(())?;
    u32::from_str_radix(part, radix).ok()
}
