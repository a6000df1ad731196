//! What can be wrong with bytes, and which reason code tells the peer so.

use crate::{PacketKind, ReasonCode};

/// A packet that cannot be read or written. The fault lies with whoever made the bytes (decode)
/// or the packet (encode).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CodecError {
    #[error("remaining length is longer than four bytes; the peer does not speak MQTT")]
    BadLength,
    #[error("packet of {len} bytes is larger than the {max} allowed; send smaller packets")]
    TooLarge { len: usize, max: usize },
    #[error("packet type 0 is reserved; the peer does not speak MQTT")]
    ReservedType,
    #[error("{kind:?} with fixed header flags {flags:#06b}, which it must not have")]
    BadFlags { kind: PacketKind, flags: u8 },
    #[error("packet ends inside its {what}")]
    Truncated { what: &'static str },
    #[error("{kind:?} has {left} bytes after its end")]
    TrailingBytes { kind: PacketKind, left: usize },
    #[error("{what} is not UTF-8, or holds the character U+0000")]
    BadText { what: &'static str },
    #[error("{what} of {len} bytes does not fit into 65535")]
    TextTooLong { what: &'static str, len: usize },
    #[error("topic name is empty, or holds a wildcard or U+0000")]
    BadTopicName,
    #[error("topic filter is empty or its wildcards stand in the wrong place")]
    BadTopicFilter,
    #[error("quality of service 3 does not exist; use 0, 1 or 2")]
    BadQos,
    #[error("QoS 0 message is marked as a duplicate")]
    DupAtQos0,
    #[error("packet identifier 0 is not allowed")]
    ZeroPacketId,
    #[error("protocol name and level {level} are not MQTT 3.1, 3.1.1 or 5")]
    UnsupportedVersion { level: u8 },
    #[error("CONNECT flags {flags:#010b} contradict each other")]
    BadConnectFlags { flags: u8 },
    #[error("subscription options {bits:#010b} set reserved bits or values")]
    BadSubscriptionOptions { bits: u8 },
    #[error("{kind:?} must list at least one entry")]
    EmptyList { kind: PacketKind },
    #[error("property {id:#04x} is unknown or does not belong into this packet")]
    UnknownProperty { id: u32 },
    #[error("property {id:#04x} appears twice")]
    DuplicateProperty { id: u8 },
    #[error("property {id:#04x} has a value it must not have")]
    BadPropertyValue { id: u8 },
    #[error("reason code {code:#04x} does not exist in {kind:?}")]
    BadReason { kind: PacketKind, code: u8 },
    #[error("{kind:?} does not exist in this protocol version")]
    NotInVersion { kind: PacketKind },
    #[error("expected {expected:?}, got another packet")]
    Unexpected { expected: PacketKind },
}

impl CodecError {
    /// The MQTT 5 reason code that tells the peer what it did.
    pub fn reason(&self) -> ReasonCode {
        match self {
            CodecError::TooLarge { .. } => ReasonCode::PACKET_TOO_LARGE,
            CodecError::UnsupportedVersion { .. } => ReasonCode::UNSUPPORTED_PROTOCOL_VERSION,
            CodecError::BadTopicName => ReasonCode::TOPIC_NAME_INVALID,
            CodecError::BadTopicFilter => ReasonCode::TOPIC_FILTER_INVALID,
            CodecError::BadPropertyValue { id: 0x23 } => ReasonCode::TOPIC_ALIAS_INVALID,
            CodecError::EmptyList { .. }
            | CodecError::DuplicateProperty { .. }
            | CodecError::BadPropertyValue { .. }
            | CodecError::ZeroPacketId
            | CodecError::NotInVersion { .. }
            | CodecError::Unexpected { .. } => ReasonCode::PROTOCOL_ERROR,
            _ => ReasonCode::MALFORMED_PACKET,
        }
    }
}
