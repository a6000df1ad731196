//! Any statement.

use super::{Name, Select, StreamDef, StreamKind};

#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    Select(Box<Select>),
    Create(Box<StreamDef>),
    /// SHOW STREAMS / SHOW TABLES
    Show(StreamKind),
    Describe(Described),
    Explain(Described),
    Drop(Described),
}

/// What DESCRIBE, EXPLAIN and DROP name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Described {
    pub kind: StreamKind,
    pub name: Name,
}
