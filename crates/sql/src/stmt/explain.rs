//! EXPLAIN STREAM name, EXPLAIN TABLE name.

use crate::parse::Parser;
use crate::{ParseError, Statement};

pub(super) fn statement(p: &mut Parser) -> Result<Statement, ParseError> {
    p.next();
    Ok(Statement::Explain(p.described()?))
}
