//! Payload to rows and back: json, binary, delimited, urlencoded, protobuf; compression and
//! encryption of payloads.
//!
//! Knows nothing of connectors, rules, SQL, tasks, files or the clock: bytes and a time come in,
//! columns go out.

pub mod codec;
mod decoder;
mod encoder;
mod format;
mod meta;
mod options;
mod plan;
#[cfg(feature = "protobuf")]
pub mod proto;
pub mod scan;
mod stamp;
mod strict;
mod table;
mod typed;

pub use decoder::Decoder;
pub use encoder::{EncodeOptions, Encoder};
pub use format::json::write_key;
pub use options::{DecodeOptions, FORMATS, Format, Timestamp};
