//! Splits a template into text and the tokens of its actions.

use crate::TemplateError;

#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    Text(String),
    /// `{{`.
    Open,
    /// `}}`.
    Close,
    Space,
    /// A name: function, keyword, true, false, nil.
    Name(String),
    /// `.a`.
    Field(String),
    Dot,
    /// `$x`, `$` included.
    Var(String),
    Number(String),
    /// A quoted, raw or character constant, quotes taken away.
    Quoted(String),
    Char(char),
    Pipe,
    Comma,
    Define,
    Assign,
    LeftParen,
    RightParen,
}

/// A token, its line and where it ends in the template.
#[derive(Clone, Debug)]
pub struct Lexed {
    pub token: Token,
    pub line: usize,
    pub at: usize,
}

pub fn error(line: usize, text: impl std::fmt::Display) -> TemplateError {
    TemplateError(format!("template: sink:{line}: {text}"))
}

struct Lexer<'a> {
    text: &'a str,
    at: usize,
    out: Vec<Lexed>,
}

pub fn lex(text: &str) -> Result<Vec<Lexed>, TemplateError> {
    let mut lexer = Lexer { text, at: 0, out: Vec::new() };
    let mut trim = false;
    loop {
        let rest = &lexer.text[lexer.at..];
        let Some(open) = rest.find("{{") else {
            lexer.text_until(text.len(), trim, false);
            return Ok(lexer.out);
        };
        let inside = &rest[open + 2..];
        let trims = inside.starts_with('-') && inside[1..].starts_with([' ', '\t', '\r', '\n']);
        lexer.text_until(lexer.at + open, trim, trims);
        lexer.at += 2 + if trims { 1 } else { 0 };
        trim = lexer.action()?;
    }
}

impl Lexer<'_> {
    fn line(&self) -> usize {
        1 + self.text[..self.at].matches('\n').count()
    }

    fn push(&mut self, token: Token) {
        let line = self.line();
        self.out.push(Lexed { token, line, at: self.at });
    }

    fn text_until(&mut self, end: usize, trim_left: bool, trim_right: bool) {
        let blanks = [' ', '\t', '\r', '\n'];
        let mut text = &self.text[self.at..end];
        if trim_left {
            text = text.trim_start_matches(blanks);
        }
        if trim_right {
            text = text.trim_end_matches(blanks);
        }
        self.at = end;
        if !text.is_empty() {
            self.push(Token::Text(text.to_owned()));
        }
    }

    /// An action from behind its `{{`; tells whether the text behind it is trimmed.
    fn action(&mut self) -> Result<bool, TemplateError> {
        let start = self.line();
        let rest = &self.text[self.at..];
        let comment = rest.trim_start_matches([' ', '\t', '\r', '\n']);
        if let Some(body) = comment.strip_prefix("/*") {
            let Some(end) = body.find("*/") else { return Err(error(start, "unclosed comment")) };
            let after = &body[end + 2..];
            let (trims, close) = closing(after)
                .ok_or_else(|| error(start, "comment ends before closing delimiter"))?;
            self.at = self.text.len() - after.len() + close;
            return Ok(trims);
        }
        self.push(Token::Open);
        let mut parens = 0usize;
        loop {
            let rest = &self.text[self.at..];
            if let Some((trims, len)) = closing(rest) {
                if parens > 0 {
                    return Err(error(self.line(), "unclosed left paren"));
                }
                self.at += len;
                self.push(Token::Close);
                return Ok(trims);
            }
            let Some(c) = rest.chars().next() else { return Err(error(start, "unclosed action")) };
            match c {
                '(' => parens += 1,
                ')' => {
                    parens = parens
                        .checked_sub(1)
                        .ok_or_else(|| error(self.line(), "unexpected right paren"))?;
                }
                _ => {}
            }
            self.token(c)?;
        }
    }

    fn take(&mut self, len: usize, token: Token) {
        self.at += len;
        self.push(token);
    }

    fn token(&mut self, c: char) -> Result<(), TemplateError> {
        let rest = &self.text[self.at..];
        let next = rest[c.len_utf8()..].chars().next().unwrap_or(' ');
        match c {
            ' ' | '\t' | '\r' | '\n' => {
                let len = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
                // the blank of a right trim marker belongs to it
                self.take(len, Token::Space);
            }
            ':' if next == '=' => self.take(2, Token::Define),
            '=' => self.take(1, Token::Assign),
            '|' => self.take(1, Token::Pipe),
            ',' => self.take(1, Token::Comma),
            '(' => self.take(1, Token::LeftParen),
            ')' => self.take(1, Token::RightParen),
            '"' | '`' | '\'' => return self.quoted(c),
            '.' if next.is_ascii_digit() => return self.number(),
            '.' => {
                let name = name_of(&rest[1..]).to_owned();
                let len = 1 + name.len();
                self.take(len, if name.is_empty() { Token::Dot } else { Token::Field(name) });
            }
            '$' => {
                let name = format!("${}", name_of(&rest[1..]));
                self.take(name.len(), Token::Var(name));
            }
            '+' | '-' | '0'..='9' => return self.number(),
            c if c == '_' || c.is_alphabetic() => {
                let name = name_of(rest).to_owned();
                self.take(name.len(), Token::Name(name));
            }
            c => return Err(error(self.line(), format!("unexpected {c:?} in command"))),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), TemplateError> {
        let rest = &self.text[self.at..];
        let mut len = 0;
        let mut before = ' ';
        for c in rest.chars() {
            let sign =
                matches!(c, '+' | '-') && (len == 0 || matches!(before, 'e' | 'E' | 'p' | 'P'));
            if !(sign || c == '.' || c == '_' || c.is_alphanumeric()) {
                break;
            }
            len += c.len_utf8();
            before = c;
        }
        let text = rest[..len].to_owned();
        if !text.contains(|c: char| c.is_ascii_digit()) {
            return Err(error(self.line(), format!("bad number syntax: {text:?}")));
        }
        self.take(len, Token::Number(text));
        Ok(())
    }

    fn quoted(&mut self, quote: char) -> Result<(), TemplateError> {
        let line = self.line();
        let rest = &self.text[self.at..];
        let what = match quote {
            '`' => "unterminated raw quoted string",
            '"' => "unterminated quoted string",
            _ => "unterminated character constant",
        };
        let mut escaped = false;
        let mut end = None;
        for (at, c) in rest.char_indices().skip(1) {
            if escaped {
                escaped = false;
            } else if c == '\\' && quote != '`' {
                escaped = true;
            } else if c == quote {
                end = Some(at);
                break;
            } else if c == '\n' && quote != '`' {
                break;
            }
        }
        let Some(end) = end else { return Err(error(line, what)) };
        let inside = &rest[1..end];
        let token = match quote {
            '`' => Token::Quoted(inside.replace('\r', "")),
            _ => {
                let text = unquote(inside).ok_or_else(|| {
                    error(line, format!("invalid syntax in {quote}{inside}{quote}"))
                })?;
                match quote {
                    '"' => Token::Quoted(text),
                    _ => {
                        let mut chars = text.chars();
                        match (chars.next(), chars.next()) {
                            (Some(c), None) => Token::Char(c),
                            _ => return Err(error(line, "malformed character constant")),
                        }
                    }
                }
            }
        };
        self.take(end + 1, token);
        Ok(())
    }
}

/// Whether an action ends here: trims or not, and the length of the end.
fn closing(rest: &str) -> Option<(bool, usize)> {
    if rest.starts_with("}}") {
        return Some((false, 2));
    }
    let trimmed = rest.trim_start_matches([' ', '\t', '\r', '\n']);
    let blanks = rest.len() - trimmed.len();
    (blanks > 0 && trimmed.starts_with("-}}")).then_some((true, blanks + 3))
}

fn name_of(text: &str) -> &str {
    let end = text.find(|c: char| c != '_' && !c.is_alphanumeric()).unwrap_or(text.len());
    &text[..end]
}

/// Go's escapes in quoted strings.
fn unquote(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let hex = |chars: &mut std::str::Chars<'_>, n: usize| {
            let digits: String = chars.take(n).collect();
            (digits.len() == n).then(|| u32::from_str_radix(&digits, 16).ok()).flatten()
        };
        out.push(match chars.next()? {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            'a' => '\u{7}',
            'b' => '\u{8}',
            'f' => '\u{c}',
            'v' => '\u{b}',
            'x' => char::from_u32(hex(&mut chars, 2)?)?,
            'u' => char::from_u32(hex(&mut chars, 4)?)?,
            'U' => char::from_u32(hex(&mut chars, 8)?)?,
            c @ ('\\' | '"' | '\'') => c,
            c @ '0'..='7' => {
                let rest: String = chars.by_ref().take(2).collect();
                char::from_u32(u32::from_str_radix(&format!("{c}{rest}"), 8).ok()?)?
            }
            _ => return None,
        });
    }
    Some(out)
}
