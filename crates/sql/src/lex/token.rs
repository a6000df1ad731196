//! What a statement is made of.

use super::Kw;
use crate::Span;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Token {
    pub kind: Tok,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Tok {
    /// A bare name that is not reserved.
    Word,
    /// A name in backquotes.
    Quoted,
    Kw(Kw),
    /// The magnitude; up to 2^63, which only a minus before it makes a legal number.
    Int(u64),
    Float(f64),
    /// With quotes and escapes still in the text.
    Str,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    Amp,
    Pipe,
    Caret,
    Eq,
    EqEq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Arrow,
    Dot,
    OpenBracket,
    CloseBracket,
    Open,
    Close,
    Comma,
    Colon,
    Semicolon,
    Hash,
    End,
}
