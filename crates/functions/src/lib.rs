//! The SQL functions: one file each, named by the word the user types.
//!
//! A file holds one `DEF` (name, aliases, arguments with the literal kinds refused when a rule is
//! made, null rule, doc, example) and its code. From `DEF` come name lookup, checks at creation,
//! `/metadata/functions`, the reference pages and the example test. Registered by one word in its
//! family's `functions!` list.
//!
//! Knows no SQL text, no rows or slots, no clock (the time is in [`Cx`]), no IO.

mod aggregate;
pub mod analytic;
mod arguments;
mod array;
mod creation;
mod datetime;
mod external;
mod hashing;
mod json;
mod math;
mod metadata;
pub mod multi;
mod object;
mod operand;
mod other;
mod pattern;
mod seen;
mod string;
#[cfg(test)]
mod testing;
mod transform;

pub mod context;
pub mod def;
mod registry;

pub use context::{Cx, Host, NoHost, RowTimes};
pub use def::{
    Accumulator, Analytic, Arg, ArgKind, ExternalFn, FunctionDef, Kind, NullRule, Refuse,
};
pub use metadata::{metadata, reference_page};
pub use registry::{all, lookup};
