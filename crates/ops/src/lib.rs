//! The operators: pure and synchronous. Rows come in by [`Op::push`], time by [`Op::tick`] or
//! [`Op::watermark`]; results go to the next operator of the chain.
//!
//! Knows no connector, no queue, no task and no wall clock: `now` is an argument. An operator is a
//! file; it is built from its plan stage in [`chain::build`].

pub mod aggregate;
pub mod aggregate_columns;
pub mod analytic;
pub mod chain;
pub mod chunk;
pub mod dedup_trigger;
pub mod filter;
pub mod frames;
pub mod having;
pub mod join;
pub mod key;
pub mod limit;
pub mod lookup;
mod needs;
pub mod op;
pub mod order;
pub mod project;
pub mod row_number;
pub mod stats;
pub mod unnest;
pub mod watermark;
pub mod window;

pub use chain::Chain;
pub use chunk::{Chunk, Emission, Origin, WindowTimes};
pub use lookup::{CacheOptions, LookupTable, Lookups};
pub use op::{Next, Op, OpCx, Output};
pub use project::Projection;
pub use stats::NodeStats;
