//! The formats, one a file: reading a payload and writing a row.

pub mod binary;
pub mod delimited;
pub mod json;
pub mod urlencoded;
