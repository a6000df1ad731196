//! SHOW STREAMS, SHOW TABLES.

use crate::parse::Parser;
use crate::{ParseError, Statement, StreamKind};

pub(super) fn statement(p: &mut Parser) -> Result<Statement, ParseError> {
    p.next();
    if p.eat_word("streams") {
        Ok(Statement::Show(StreamKind::Stream))
    } else if p.eat_word("tables") {
        Ok(Statement::Show(StreamKind::Table))
    } else {
        p.unexpected("STREAMS or TABLES")
    }
}
