//! Definitions of streams and tables.

use super::Name;
use crate::deep::deep;

#[derive(Debug, Clone, PartialEq)]
pub struct StreamDef {
    pub kind: StreamKind,
    pub name: Name,
    /// None where the parentheses were empty: a stream without a schema.
    pub fields: Option<Vec<Field>>,
    pub options: StreamOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StreamKind {
    Stream,
    Table,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    pub name: Name,
    pub typ: FieldType,
    pub default: Option<FieldDefault>,
}

#[derive(Debug)]
pub enum FieldType {
    Bigint,
    Float,
    String,
    Datetime,
    Boolean,
    Bytea,
    Array(Box<FieldType>),
    Struct(Vec<Field>),
}

/// A default, converted to the field's type.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldDefault {
    Bigint(i64),
    Float(f64),
    String(String),
    Boolean(bool),
}

/// Options of WITH (...), as written; None or false where not given.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct StreamOptions {
    pub datasource: Option<String>,
    pub key: Option<String>,
    pub format: Option<String>,
    pub conf_key: Option<String>,
    /// The source type; none means mqtt.
    pub type_: Option<String>,
    pub strict_validation: Option<bool>,
    pub timestamp: Option<String>,
    pub timestamp_format: Option<String>,
    pub shared: Option<bool>,
    pub schema_id: Option<String>,
    /// In lower case.
    pub version: Option<String>,
    /// JSON text.
    pub extra: Option<String>,
    pub temp: Option<bool>,
    pub retain_size: Option<i64>,
    /// `scan` or `lookup`, for tables.
    pub kind: Option<String>,
    pub delimiter: Option<String>,
}

impl StreamKind {
    pub fn word(self) -> &'static str {
        match self {
            StreamKind::Stream => "STREAM",
            StreamKind::Table => "TABLE",
        }
    }

    /// "Stream" or "Table", as in what is told to the user.
    pub fn title(self) -> &'static str {
        match self {
            StreamKind::Stream => "Stream",
            StreamKind::Table => "Table",
        }
    }
}

impl FieldType {
    /// In lower case, as on the wire.
    pub fn word(&self) -> &'static str {
        match self {
            FieldType::Bigint => "bigint",
            FieldType::Float => "float",
            FieldType::String => "string",
            FieldType::Datetime => "datetime",
            FieldType::Boolean => "boolean",
            FieldType::Bytea => "bytea",
            FieldType::Array(_) => "array",
            FieldType::Struct(_) => "struct",
        }
    }
}

// By hand, since types may be nested as deep as parentheses.

impl Drop for FieldType {
    fn drop(&mut self) {
        match self {
            FieldType::Array(t) => {
                let inner = std::mem::replace(t.as_mut(), FieldType::Bigint);
                deep(|| drop(inner));
            }
            FieldType::Struct(fields) => {
                let fields = std::mem::take(fields);
                deep(|| drop(fields));
            }
            _ => {}
        }
    }
}

impl Clone for FieldType {
    fn clone(&self) -> Self {
        match self {
            FieldType::Array(t) => FieldType::Array(Box::new(deep(|| t.as_ref().clone()))),
            FieldType::Struct(fields) => FieldType::Struct(deep(|| fields.clone())),
            FieldType::Bigint => FieldType::Bigint,
            FieldType::Float => FieldType::Float,
            FieldType::String => FieldType::String,
            FieldType::Datetime => FieldType::Datetime,
            FieldType::Boolean => FieldType::Boolean,
            FieldType::Bytea => FieldType::Bytea,
        }
    }
}

impl PartialEq for FieldType {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (FieldType::Array(a), FieldType::Array(b)) => deep(|| a == b),
            (FieldType::Struct(a), FieldType::Struct(b)) => deep(|| a == b),
            _ => self.word() == other.word(),
        }
    }
}
