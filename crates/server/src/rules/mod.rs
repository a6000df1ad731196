//! Rules: their definition, their life, what is done with them.

pub mod definition;
pub mod machine;
mod manager;
mod patrol;
mod rule;
pub mod schedule;

pub use manager::{Clock, Rules, system_clock};
pub use rule::Rule;
