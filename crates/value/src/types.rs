//! Column types as declared in CREATE STREAM, and what a rule wants read from a stream.

use crate::Str;

/// The declared type of a column; `Any` in schemaless streams.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum ColType {
    #[default]
    Any,
    Bigint,
    Float,
    String,
    Datetime,
    Boolean,
    Bytea,
    Array(Box<ColType>),
    Struct(Vec<(Str, ColType)>),
}

/// One thing that the rules on a stream read from its messages. The position of a `Field` in a
/// stream's list is the column index in its batches; a shared stream only ever appends.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Field {
    /// A top-level member (or delimited column) of that name.
    Named(Str),
    /// The whole message as an object (`SELECT *`).
    Whole,
    /// Message metadata of that key (`meta(topic)`).
    Meta(Str),
    /// All metadata as one object (`meta(*)`, sendMetaToSink).
    MetaWhole,
}
