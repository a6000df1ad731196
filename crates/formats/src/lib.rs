//! Payload to rows and back: json, binary, delimited, urlencoded, protobuf; compression and
//! encryption of payloads.
//!
//! Knows nothing of connectors, rules, SQL, tasks, files or the clock: bytes and a time come in,
//! columns go out.

pub mod scan;
