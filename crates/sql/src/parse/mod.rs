//! From tokens to [`crate::ast`].

mod access;
mod case;
mod cursor;
mod expr;
mod item;
mod window;

pub(crate) use cursor::Parser;

use crate::{Expr, Item, ParseError, Select, Statement};

/// How tightly things bind, loosest first.
pub(crate) mod level {
    pub const OR: u8 = 1;
    pub const AND: u8 = 2;
    pub const NOT: u8 = 3;
    pub const COMPARE: u8 = 4;
    pub const ADD: u8 = 5;
    pub const MUL: u8 = 6;
    pub const UNARY: u8 = 7;
    pub const ACCESS: u8 = 8;
    pub const ATOM: u8 = 9;
}

/// The SQL of a rule: one SELECT, at most semicolons after it.
pub fn parse_select(text: &str) -> Result<Select, ParseError> {
    whole(text, |p| p.select())
}

/// Any statement: SELECT, CREATE, SHOW, DESCRIBE, EXPLAIN, DROP.
pub fn parse_statement(text: &str) -> Result<Statement, ParseError> {
    whole(text, crate::stmt::statement)
}

/// An expression alone, as in the `expr` of a graph node.
pub fn parse_expr(text: &str) -> Result<Expr, ParseError> {
    whole(text, |p| p.any_expr())
}

/// A select item alone (`expr [AS name] [INVISIBLE]`), as in a graph node.
pub fn parse_item(text: &str) -> Result<Item, ParseError> {
    whole(text, |p| p.item())
}

fn whole<T>(
    text: &str,
    part: impl FnOnce(&mut Parser) -> Result<T, ParseError>,
) -> Result<T, ParseError> {
    let mut parser = Parser::new(text)?;
    let out = part(&mut parser)?;
    parser.end()?;
    Ok(out)
}
