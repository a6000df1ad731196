//! The only door to time, tasks and queues.
//!
//! Everything above takes its `now` from a [`Clock`] (real, or turned by hand in tests), starts
//! tasks through [`task::spawn`] (named, with a panic that becomes a log line instead of silence),
//! and passes rows through a [`queue`] that has a name, a bound and a counted policy. Limits have
//! one home: [`limits`].
//!
//! Knows no rows, no rules and no connectors: what goes through a queue is the business of others.

pub mod clock;
pub mod limits;
pub mod pause;
pub mod queue;
pub mod task;

pub use clock::Clock;
pub use pause::Pause;
