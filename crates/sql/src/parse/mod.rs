//! From text to [`crate::ast`].

use crate::{Expr, Item, ParseError, Select, Statement};

pub(crate) mod level {
    pub const OR: u8 = 1;
    pub const AND: u8 = 2;
    pub const NOT: u8 = 3;
    pub const COMPARE: u8 = 4;
    pub const ADD: u8 = 5;
    pub const MUL: u8 = 6;
    pub const UNARY: u8 = 7;
    pub const ACCESS: u8 = 8;
}

/// The SQL of a rule: one SELECT, a semicolon at most after it.
pub fn parse_select(text: &str) -> Result<Select, ParseError> {
    Err(ParseError::new(crate::Span::default(), text, ""))
}

/// Any statement.
pub fn parse_statement(text: &str) -> Result<Statement, ParseError> {
    Err(ParseError::new(crate::Span::default(), text, ""))
}

/// An expression alone, as in the `expr` of a graph node.
pub fn parse_expr(text: &str) -> Result<Expr, ParseError> {
    Err(ParseError::new(crate::Span::default(), text, ""))
}

/// A select item alone (`expr [AS name] [INVISIBLE]`), as in a graph node.
pub fn parse_item(text: &str) -> Result<Item, ParseError> {
    Err(ParseError::new(crate::Span::default(), text, ""))
}
