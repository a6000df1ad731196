//! Payload to rows and back: json, binary, delimited, urlencoded, protobuf
