//! DESCRIBE STREAM name, DESCRIBE TABLE name.

use crate::parse::Parser;
use crate::{Described, ParseError, Statement, StreamKind};

pub(super) fn statement(p: &mut Parser) -> Result<Statement, ParseError> {
    p.next();
    Ok(Statement::Describe(p.described()?))
}

impl Parser<'_> {
    /// STREAM or TABLE.
    pub fn stream_kind(&mut self) -> Result<StreamKind, ParseError> {
        if self.eat_word("stream") {
            Ok(StreamKind::Stream)
        } else if self.eat_word("table") {
            Ok(StreamKind::Table)
        } else {
            self.unexpected("STREAM or TABLE")
        }
    }

    pub fn described(&mut self) -> Result<Described, ParseError> {
        let kind = self.stream_kind()?;
        let name = self.name("a name")?;
        Ok(Described { kind, name })
    }
}
