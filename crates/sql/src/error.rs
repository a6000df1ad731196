//! What is wrong with a statement, and where.

use crate::ast::Span;

/// A statement that is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseError {
    pub span: Span,
    /// What is wrong, in one sentence without the place.
    pub message: String,
    /// What would have been right here; may be empty.
    pub expected: String,
}

impl ParseError {
    pub fn new(span: Span, message: impl Into<String>, expected: impl Into<String>) -> Self {
        ParseError {
            span,
            message: message.into(),
            expected: expected.into(),
        }
    }

    /// Line and column (in characters), both from 1.
    pub fn position(&self, sql: &str) -> (usize, usize) {
        let at = floor(sql, self.span.start as usize);
        let before = &sql[..at];
        let line_start = before.rfind('\n').map_or(0, |i| i + 1);
        (
            before.matches('\n').count() + 1,
            before[line_start..].chars().count() + 1,
        )
    }

    /// The error with line and column, the line of the text and a caret below the place.
    pub fn render(&self, sql: &str) -> String {
        let (line, column) = self.position(sql);
        let at = floor(sql, self.span.start as usize);
        let start = sql[..at].rfind('\n').map_or(0, |i| i + 1);
        let end = sql[at..].find('\n').map_or(sql.len(), |i| at + i);
        // A line may be a megabyte long: show what is near the place.
        let from = sql[start..at]
            .char_indices()
            .rev()
            .nth(59)
            .map_or(start, |(i, _)| start + i);
        let to = sql[at..end]
            .char_indices()
            .nth(60)
            .map_or(end, |(i, _)| at + i);
        let clean = |s: &str| -> String {
            s.chars()
                .map(|c| if c.is_control() { ' ' } else { c })
                .collect()
        };
        let lead = if from > start { "..." } else { "" };
        let tail = if to < end { "..." } else { "" };
        let pad = " ".repeat(lead.len() + sql[from..at].chars().count());
        let stop = floor(sql, self.span.end as usize).clamp(at, to);
        let carets = "^".repeat(sql[at..stop].chars().count().max(1));
        let head = format!("line {line}, column {column}: {self}");
        format!(
            "{head}\n  {lead}{}{tail}\n  {pad}{carets}",
            clean(&sql[from..to])
        )
    }
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        if !self.expected.is_empty() {
            write!(f, "; expected {}", self.expected)?;
        }
        Ok(())
    }
}

impl std::error::Error for ParseError {}

fn floor(s: &str, at: usize) -> usize {
    let mut at = at.min(s.len());
    while !s.is_char_boundary(at) {
        at -= 1;
    }
    at
}
