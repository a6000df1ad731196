//! A place in a list of tokens, and the small steps all statements share.

use crate::lex::{Kw, Tok, Token, tokens, unescape};
use crate::{MAX_NESTING, Name, ParseError, Span};

pub(crate) struct Parser<'a> {
    pub text: &'a str,
    tokens: Vec<Token>,
    at: usize,
    nesting: u32,
}

impl<'a> Parser<'a> {
    pub fn new(text: &'a str) -> Result<Self, ParseError> {
        Ok(Parser {
            text,
            tokens: tokens(text)?,
            at: 0,
            nesting: 0,
        })
    }

    pub fn peek(&self) -> Token {
        self.ahead(0)
    }

    /// The token `n` after the next one; past the end it is the end.
    pub fn ahead(&self, n: usize) -> Token {
        let end = Token {
            kind: Tok::End,
            span: Span::default(),
        };
        let last = self.tokens.last().copied().unwrap_or(end);
        self.tokens.get(self.at + n).copied().unwrap_or(last)
    }

    pub fn next(&mut self) -> Token {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len());
        token
    }

    /// The span of the token before.
    pub fn last_span(&self) -> Span {
        self.at
            .checked_sub(1)
            .and_then(|i| self.tokens.get(i))
            .map_or(Span::default(), |t| t.span)
    }

    pub fn at(&self, kind: Tok) -> bool {
        self.peek().kind == kind
    }

    pub fn eat(&mut self, kind: Tok) -> bool {
        let found = self.at(kind);
        if found {
            self.next();
        }
        found
    }

    pub fn eat_kw(&mut self, kw: Kw) -> bool {
        self.eat(Tok::Kw(kw))
    }

    pub fn expect(&mut self, kind: Tok, what: &str) -> Result<Token, ParseError> {
        if self.at(kind) {
            Ok(self.next())
        } else {
            self.unexpected(what)
        }
    }

    pub fn expect_kw(&mut self, kw: Kw) -> Result<Token, ParseError> {
        self.expect(Tok::Kw(kw), kw.text())
    }

    /// A word that is special by its text alone, such as STREAM or IS.
    pub fn at_word(&self, word: &str) -> bool {
        self.ahead_word(0, word)
    }

    pub fn ahead_word(&self, n: usize, word: &str) -> bool {
        let token = self.ahead(n);
        token.kind == Tok::Word && token.span.of(self.text).eq_ignore_ascii_case(word)
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.at_word(word);
        if found {
            self.next();
        }
        found
    }

    pub fn is_name(&self, n: usize) -> bool {
        matches!(self.ahead(n).kind, Tok::Word | Tok::Quoted)
    }

    /// A bare or quoted name; `what` says whose name it is.
    pub fn name(&mut self, what: &str) -> Result<Name, ParseError> {
        let token = self.peek();
        match token.kind {
            Tok::Word => {
                self.next();
                Ok(token.span.of(self.text).into())
            }
            Tok::Quoted => {
                self.next();
                let raw = token.span.of(self.text);
                match raw.get(1..raw.len() - 1) {
                    Some(name) if !name.is_empty() => Ok(name.into()),
                    _ => Err(ParseError::new(token.span, "the name is empty", what)),
                }
            }
            _ => self.unexpected_name(what),
        }
    }

    /// The value of a string token.
    pub fn string(&self, token: Token) -> Result<ecow::EcoString, ParseError> {
        unescape(token.span.of(self.text), token.span.start)
    }

    /// `one {"," one}`
    pub fn list<T>(
        &mut self,
        mut one: impl FnMut(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        let mut out = vec![one(self)?];
        while self.eat(Tok::Comma) {
            out.push(one(self)?);
        }
        Ok(out)
    }

    /// Runs `f` one level of brackets further in.
    pub fn nested<T>(
        &mut self,
        f: impl FnOnce(&mut Self) -> Result<T, ParseError>,
    ) -> Result<T, ParseError> {
        if self.nesting >= MAX_NESTING {
            let what = format!("the statement is nested deeper than {MAX_NESTING} levels");
            return Err(ParseError::new(self.peek().span, what, "a flatter one"));
        }
        self.nesting += 1;
        let out = crate::deep(|| f(self));
        self.nesting -= 1;
        out
    }

    /// Nothing but semicolons up to the end.
    pub fn end(&mut self) -> Result<(), ParseError> {
        let closed = self.at(Tok::Semicolon);
        while self.eat(Tok::Semicolon) {}
        match self.peek().kind {
            Tok::End => Ok(()),
            _ if closed => {
                let what = "there is more text after the semicolon";
                let hint = "one statement only; remove what follows the semicolon";
                Err(ParseError::new(self.peek().span, what, hint))
            }
            _ => self.unexpected("the end of the statement"),
        }
    }

    /// The next token is wrong where a name would have been right.
    pub fn unexpected_name<T>(&self, expected: &str) -> Result<T, ParseError> {
        let token = self.peek();
        let Tok::Kw(kw) = token.kind else {
            return self.unexpected(expected);
        };
        let word = token.span.of(self.text);
        let message = format!("the reserved word {} cannot stand here", kw.text());
        let expected = format!("{expected} (to use the word as a name, write `{word}`)");
        Err(ParseError::new(token.span, message, expected))
    }

    /// The next token is wrong.
    pub fn unexpected<T>(&self, expected: &str) -> Result<T, ParseError> {
        let token = self.peek();
        let message = match token.kind {
            Tok::End => "the statement ends too early".to_string(),
            _ => {
                let shown: String = token.span.of(self.text).chars().take(40).collect();
                let shown = shown.escape_debug().to_string().replace("\\\"", "\"");
                format!(
                    "`{}` cannot stand here",
                    shown.replace("\\'", "'").trim_matches('`')
                )
            }
        };
        Err(ParseError::new(token.span, message, expected))
    }
}
