//! CREATE STREAM, CREATE TABLE.

mod default;
mod field;
mod option;

use crate::lex::Tok;
use crate::parse::Parser;
use crate::{ParseError, Span, Statement, StreamDef};

pub(super) fn statement(p: &mut Parser) -> Result<Statement, ParseError> {
    p.next();
    let kind = p.stream_kind()?;
    let at = p.peek().span;
    let name = p.name("a name")?;
    check_name(&name, at)?;
    p.expect(Tok::Open, "`(` and the fields, or `()`")?;
    let fields = if p.at(Tok::Close) {
        None
    } else {
        Some(p.fields()?)
    };
    p.expect(Tok::Close, "`,` or `)`")?;
    if !p.eat_word("with") {
        return p.unexpected("WITH ( options )");
    }
    p.expect(Tok::Open, "`(` after WITH")?;
    let options = p.options()?;
    p.expect(Tok::Close, "an option or `)`")?;
    Ok(Statement::Create(Box::new(StreamDef {
        kind,
        name,
        fields,
        options,
    })))
}

fn check_name(name: &str, at: Span) -> Result<(), ParseError> {
    if name
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || b == b'_' || b == b'-')
    {
        return Ok(());
    }
    let what = format!("`{}` cannot name a stream or table", name.escape_debug());
    Err(ParseError::new(at, what, "letters, digits, `_` and `-`"))
}
