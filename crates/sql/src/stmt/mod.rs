//! The statements, one a file.

mod create;
mod describe;
mod drop;
mod explain;
mod select;
mod show;

use crate::parse::Parser;
use crate::{ParseError, Statement};

/// A statement's first word and how the rest is read.
type Entry = (
    &'static str,
    fn(&mut Parser) -> Result<Statement, ParseError>,
);

const STATEMENTS: &[Entry] = &[
    ("SELECT", select::statement),
    ("CREATE", create::statement),
    ("SHOW", show::statement),
    ("DESCRIBE", describe::statement),
    ("EXPLAIN", explain::statement),
    ("DROP", drop::statement),
];

pub(crate) fn statement(p: &mut Parser) -> Result<Statement, ParseError> {
    let word = p.peek().span.of(p.text);
    match STATEMENTS
        .iter()
        .find(|(w, _)| w.eq_ignore_ascii_case(word))
    {
        Some((_, parse)) => parse(p),
        None => {
            let words: Vec<&str> = STATEMENTS.iter().map(|(w, _)| *w).collect();
            p.unexpected(&format!("one of {}", words.join(", ")))
        }
    }
}
