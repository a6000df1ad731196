//! `in-process`: what a message of W1 costs in the engine, against a fixed reference loop that does
//! the least work that gives the same lines, in instructions.
//!
//! It knows W1's payload and rule, how to push batches through a real engine on one thread, and how
//! to compare the two counts with a ratio that is kept in `baseline.json`. It holds no time:
//! machines differ, and others use them too.
//!
//! It does NOT know how the engine does it: SQL and bytes in, lines out.

pub mod chain;
pub mod floor;
pub mod payload;
