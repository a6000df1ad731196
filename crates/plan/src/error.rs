//! What is wrong with a rule, and where in its statement.

use rekuiper_sql::{ParseError, Span};

/// eKuiper's numeric error codes, as far as planning gives them.
pub mod code {
    /// The statement cannot be read.
    pub const SQL: u32 = 1000;
    /// The statement reads well and cannot be run.
    pub const PLAN: u32 = 1000;
}

/// A rule that is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlanError {
    pub code: u32,
    /// What is wrong, in one sentence without the place.
    pub message: String,
    /// What would have been right; may be empty.
    pub expected: String,
    /// Where; none for rule options and graph rules.
    pub span: Option<Span>,
}

pub type Result<T> = std::result::Result<T, PlanError>;

impl PlanError {
    pub fn at(span: Span, message: impl Into<String>) -> Self {
        let message = message.into();
        PlanError {
            code: code::PLAN,
            message,
            expected: String::new(),
            span: Some(span),
        }
    }

    /// An error without a place in a statement.
    pub fn general(message: impl Into<String>) -> Self {
        let message = message.into();
        PlanError {
            code: code::PLAN,
            message,
            expected: String::new(),
            span: None,
        }
    }

    pub fn expected(mut self, expected: impl Into<String>) -> Self {
        self.expected = expected.into();
        self
    }

    /// The error with line and column, the line of the text and a caret below the place.
    pub fn render(&self, sql: &str) -> String {
        match self.span {
            Some(span) => {
                ParseError::new(span, self.message.clone(), self.expected.clone()).render(sql)
            }
            None => self.to_string(),
        }
    }
}

impl From<ParseError> for PlanError {
    fn from(e: ParseError) -> Self {
        let ParseError {
            span,
            message,
            expected,
        } = e;
        PlanError {
            code: code::SQL,
            message,
            expected,
            span: Some(span),
        }
    }
}

impl std::fmt::Display for PlanError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)?;
        if !self.expected.is_empty() {
            write!(f, "; expected {}", self.expected)?;
        }
        Ok(())
    }
}

impl std::error::Error for PlanError {}
