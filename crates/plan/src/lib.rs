//! From AST to a checked physical plan: names become column numbers, calls become function
//! definitions, every mistake is an error with its place in the statement; EXPLAIN.
//!
//! Knows no connector, no task, no data.

pub mod physical;
