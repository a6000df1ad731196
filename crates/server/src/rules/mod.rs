//! Rules: their definition, their life, what is done with them.

pub mod definition;
pub mod machine;
mod manager;
pub mod schedule;

pub use manager::{Clock, Rule, Rules, system_clock};
