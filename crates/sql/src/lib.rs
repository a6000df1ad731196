//! Lexer, parser, AST and printer of the eKuiper SQL dialect.
//!
//! It turns the text of a statement into plain data and back, and says where a text is wrong.
//! What it does NOT know: which streams, columns and functions there are, what a function takes,
//! which of several readings of a name is meant, how anything is run. A statement that parses may
//! still be refused by the plan.
//!
//! A file per statement in `stmt/` (one line in its table registers it), a file per kind of
//! expression in `parse/`, printing in `print/`, what is told about a stream in `stream/`.
//! Invariants, each held by a test: no text makes the parser panic or run out of stack
//! (`tests/properties.rs`, `tests/limits.rs`); what is printed parses to the same again; time
//! grows linearly with the text.

pub mod ast;
mod deep;
mod error;
mod lex;
mod parse;
mod print;
mod stmt;
mod stream;

pub use ast::*;
pub use deep::{MAX_DEPTH, MAX_NESTING, deep, roomy};
pub use error::ParseError;
pub use parse::{parse_expr, parse_item, parse_select, parse_statement};
