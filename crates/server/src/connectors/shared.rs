//! Properties that several connectors have.

use super::{Prop, prop};

/// TLS of connections that are opened.
pub static TLS: &[Prop] = &[
    prop(
        "insecureSkipVerify",
        "false",
        "bool",
        "Skip certificate check",
        "Accept any certificate of the peer.",
    ),
    prop("certificationPath", "null", "string", "Certificate", "File of the client certificate."),
    prop("privateKeyPath", "null", "string", "Private key", "File of the client's private key."),
    prop("rootCaPath", "null", "string", "Root CA", "File of the certificates to trust."),
    prop(
        "certificationRaw",
        "null",
        "string",
        "Certificate text",
        "The client certificate in base64, instead of a file.",
    ),
    prop(
        "privateKeyRaw",
        "null",
        "string",
        "Private key text",
        "The client's private key in base64, instead of a file.",
    ),
    prop(
        "rootCARaw",
        "null",
        "string",
        "Root CA text",
        "The certificates to trust in base64, instead of a file.",
    ),
    prop("tlsMinVersion", "null", "string", "Oldest TLS", "tls1.2 or tls1.3.")
        .of(r#"["tls1.2","tls1.3"]"#),
    prop(
        "decrypt",
        "null",
        "object",
        "Decryption",
        "How certificate and key are encrypted: algorithm, properties, key.",
    ),
    prop("tls", "null", "string", "TLS settings", "default takes those of the configuration.")
        .of(r#"["","default"]"#),
];

/// Sources that others send to.
pub static SENT_TO: &[Prop] = &[prop(
    "interval",
    "null",
    "string",
    "Interval",
    "Only the latest message of each interval goes on; 0 lets all pass.",
)];

/// Sources of messages in bytes.
pub static BYTES: &[Prop] = &[
    prop("decompression", "\"\"", "string", "Decompression", "How messages are compressed.")
        .of(r#"["","zlib","gzip","flate","zstd"]"#),
    prop(
        "mergeField",
        "null",
        "string",
        "Merge field",
        "With an interval: the latest message for each value of this field, put together.",
    ),
    prop("sendInterval", "null", "string", "Send interval", "Pause between rows of one message."),
];

/// Sources whose payloads are decoded.
pub static PAYLOAD: &[Prop] = &[
    prop(
        "payloadFormat",
        "null",
        "string",
        "Payload format",
        "How a field of the row is encoded once more.",
    )
    .of(r#"["","json","delimited","urlencoded"]"#),
    prop("payloadDelimiter", "null", "string", "Payload delimiter", "Of payload format delimited."),
    prop("payloadField", "null", "string", "Payload field", "The field that is encoded once more."),
    prop(
        "useInt64ForWholeNumber",
        "null",
        "bool",
        "Whole numbers",
        "Whether numbers without a point are integers of 64 bits.",
    ),
];

/// Use of a named connection.
pub static SELECTOR: &[Prop] =
    &[prop("connectionSelector", "\"\"", "string", "Connection", "Id of a named connection.")];
