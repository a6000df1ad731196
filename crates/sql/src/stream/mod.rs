//! What is told about a stream or table: DESCRIBE, JSON, and checks over the whole definition.

mod describe;
mod json;
mod validate;
