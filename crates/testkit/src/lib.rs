//! Helpers for tests: recorded SQL cases run in-process through decoder, plan and operators.
//!
//! Knows no server, no socket and no file: cases are texts, answers are texts.

pub mod sqlcase;
