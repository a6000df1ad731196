//! From text to tokens.

mod literal;
mod token;
mod word;

pub(crate) use literal::unescape;
pub(crate) use token::{Tok, Token};
pub(crate) use word::{Kw, is_bare_name};

use crate::{ParseError, Span};

/// All tokens of a statement, an [`Tok::End`] last.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, ParseError> {
    if u32::try_from(text.len()).is_err() {
        return Err(ParseError::new(
            Span::default(),
            "the statement is longer than 4 GB",
            "",
        ));
    }
    let mut lexer = Lexer {
        text,
        bytes: text.as_bytes(),
        at: 0,
    };
    let mut out = Vec::with_capacity(text.len() / 4 + 1);
    loop {
        let token = lexer.next()?;
        out.push(token);
        if token.kind == Tok::End {
            return Ok(out);
        }
    }
}

struct Lexer<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
}

fn is_blank(b: u8) -> bool {
    matches!(b, b' ' | b'\t' | b'\r' | b'\n')
}

impl Lexer<'_> {
    fn peek(&self, ahead: usize) -> u8 {
        // A zero byte is no part of any token, so it may stand for "no more".
        self.bytes.get(self.at + ahead).copied().unwrap_or(0)
    }

    fn error<T>(
        &self,
        from: usize,
        message: impl Into<String>,
        expected: &str,
    ) -> Result<T, ParseError> {
        let to = self.at.max(from).min(self.bytes.len());
        Err(ParseError::new(Span::new(from, to), message, expected))
    }

    fn next(&mut self) -> Result<Token, ParseError> {
        self.skip()?;
        let start = self.at;
        let kind = self.token()?;
        Ok(Token {
            kind,
            span: Span::new(start, self.at),
        })
    }

    /// White space and comments.
    fn skip(&mut self) -> Result<(), ParseError> {
        loop {
            match (self.peek(0), self.peek(1)) {
                (b, _) if is_blank(b) => self.at += 1,
                (b'-', b'-') => {
                    let rest = &self.bytes[self.at..];
                    self.at += rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
                }
                (b'/', b'*') => {
                    let start = self.at;
                    match self.text[start + 2..].find("*/") {
                        Some(n) => self.at = start + 2 + n + 2,
                        None => {
                            self.at = start + 2;
                            return self.error(start, "the comment never ends", "`*/`");
                        }
                    }
                }
                _ => return Ok(()),
            }
        }
    }

    fn token(&mut self) -> Result<Tok, ParseError> {
        let start = self.at;
        let first = self.peek(0);
        match first {
            b'a'..=b'z' | b'A'..=b'Z' => return Ok(self.word()),
            b'0'..=b'9' => return self.number(),
            b'.' if self.peek(1).is_ascii_digit() => return self.number(),
            b'"' | b'\'' => return self.string(first),
            b'`' => return self.quoted(),
            0 if start >= self.bytes.len() => return Ok(Tok::End),
            0 => {
                // Zero bytes may end a text; more text behind them is most likely not meant.
                let rest = &self.bytes[start..];
                if rest.iter().all(|b| *b == 0 || is_blank(*b)) {
                    self.at = self.bytes.len();
                    return Ok(Tok::End);
                }
                self.at += 1;
                return self.error(start, "a zero byte stands in the statement", "");
            }
            _ => {}
        }
        self.at += 1;
        Ok(match first {
            b'+' => Tok::Plus,
            b'*' => Tok::Star,
            b'/' => Tok::Slash,
            b'%' => Tok::Percent,
            b'&' => Tok::Amp,
            b'|' => Tok::Pipe,
            b'^' => Tok::Caret,
            b'.' => Tok::Dot,
            b'[' => Tok::OpenBracket,
            b']' => Tok::CloseBracket,
            b'(' => Tok::Open,
            b')' => Tok::Close,
            b',' => Tok::Comma,
            b':' => Tok::Colon,
            b';' => Tok::Semicolon,
            b'#' => Tok::Hash,
            b'-' if self.then(b'>') => Tok::Arrow,
            b'-' => Tok::Minus,
            b'=' if self.peek(0) == b'=' => {
                self.at += 1;
                Tok::EqEq
            }
            b'=' => Tok::Eq,
            b'!' if self.then(b'=') => Tok::Ne,
            b'!' => return self.error(start, "`!` alone is no operator", "`!=` or NOT"),
            b'<' if self.peek(0) == b'>' => {
                self.at += 1;
                Tok::Ne
            }
            b'<' if self.then(b'=') => Tok::Le,
            b'<' => Tok::Lt,
            b'>' if self.then(b'=') => Tok::Ge,
            b'>' => Tok::Gt,
            _ => return self.illegal(start),
        })
    }

    /// The second sign of an operator; white space may stand before it.
    fn then(&mut self, second: u8) -> bool {
        let mut n = 0;
        while is_blank(self.peek(n)) {
            n += 1;
        }
        let found = self.peek(n) == second;
        if found {
            self.at += n + 1;
        }
        found
    }

    fn illegal<T>(&mut self, start: usize) -> Result<T, ParseError> {
        let c = self.text[start..].chars().next().unwrap_or(' ');
        self.at = start + c.len_utf8();
        let shown = match c {
            c if c.is_alphabetic() => {
                return self.error(
                    start,
                    format!("`{c}` cannot be part of a bare name"),
                    "ASCII letters, digits and `_`; put other names in backquotes",
                );
            }
            '_' => {
                let hint = "a name that begins with a letter; put others in backquotes";
                return self.error(start, "a bare name cannot begin with `_`", hint);
            }
            c if c.is_control() || c.is_whitespace() || c as u32 > 127 => {
                format!("the character U+{:04X}", c as u32)
            }
            c => format!("`{c}`"),
        };
        self.error(start, format!("{shown} has no meaning here"), "")
    }

    fn word(&mut self) -> Tok {
        let start = self.at;
        while self.peek(0).is_ascii_alphanumeric() || self.peek(0) == b'_' {
            self.at += 1;
        }
        Kw::by_text(&self.text[start..self.at]).map_or(Tok::Word, Tok::Kw)
    }

    fn quoted(&mut self) -> Result<Tok, ParseError> {
        let start = self.at;
        match self.text[start + 1..].find('`') {
            Some(n) => {
                self.at = start + 1 + n + 1;
                Ok(Tok::Quoted)
            }
            None => {
                self.at = start + 1;
                self.error(
                    start,
                    "the name in backquotes never ends",
                    "a closing backquote",
                )
            }
        }
    }
}
