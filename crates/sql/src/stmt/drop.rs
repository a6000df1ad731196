//! DROP STREAM name, DROP TABLE name.

use crate::parse::Parser;
use crate::{ParseError, Statement};

pub(super) fn statement(p: &mut Parser) -> Result<Statement, ParseError> {
    p.next();
    Ok(Statement::Drop(p.described()?))
}
