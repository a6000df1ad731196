//! From AST to a checked physical plan: names become column numbers, calls become function
//! definitions, every mistake is an error with its place in the statement; EXPLAIN.
//!
//! [`plan_rule`] does it in four steps: the clauses are compiled ([`compile`]: calls with state
//! become columns), put into the order of windows.md ([`build`]), the window is joined with its
//! aggregates where no rows are needed ([`incremental`]), and columns get their final numbers
//! ([`number`]).
//!
//! Knows no connector, no task, no data.

mod build;
mod catalog;
mod compile;
mod error;
mod explain;
pub mod graph;
mod having;
mod incremental;
mod internal;
mod items;
mod join;
mod number;
mod options;
pub mod physical;
mod scope;
mod visit;
mod window;

pub use build::{Planned, plan_rule};
pub use catalog::{Catalog, StreamInfo};
pub use error::{PlanError, Result, code};
pub use explain::ExplainNode;
pub use graph::{GraphPlan, plan_graph};
pub use options::RuleOptions;
