//! Reason codes: one table for all packets, and where each may stand.

use crate::PacketKind;

/// The reason code of MQTT 5. Older versions' return codes are mapped to and from it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReasonCode(pub u8);

// which packets a code may stand in
const CONNACK: u16 = 1;
const ACK: u16 = 2; // PUBACK, PUBREC
const REL: u16 = 4; // PUBREL, PUBCOMP
const SUBACK: u16 = 8;
const UNSUBACK: u16 = 16;
const DISCONNECT: u16 = 32;
const AUTH: u16 = 64;

macro_rules! reason_codes {
    ($($name:ident = $code:literal, $text:literal, $places:expr;)*) => {
        impl ReasonCode {
            $(#[doc = $text] pub const $name: ReasonCode = ReasonCode($code);)*

            fn places(self) -> u16 {
                match self.0 { $($code => $places,)* _ => 0 }
            }

            /// The words of the specification, for logs.
            pub fn text(self) -> &'static str {
                match self.0 { $($code => $text,)* _ => "unknown reason" }
            }
        }
        #[cfg(test)]
        const ALL: &[u8] = &[$($code),*];
    };
}

reason_codes! {
    SUCCESS = 0x00, "success", CONNACK | ACK | REL | SUBACK | UNSUBACK | DISCONNECT | AUTH;
    GRANTED_QOS1 = 0x01, "granted QoS 1", SUBACK;
    GRANTED_QOS2 = 0x02, "granted QoS 2", SUBACK;
    DISCONNECT_WITH_WILL = 0x04, "disconnect with will message", DISCONNECT;
    NO_MATCHING_SUBSCRIBERS = 0x10, "no matching subscribers", ACK;
    NO_SUBSCRIPTION_EXISTED = 0x11, "no subscription existed", UNSUBACK;
    CONTINUE_AUTHENTICATION = 0x18, "continue authentication", AUTH;
    REAUTHENTICATE = 0x19, "re-authenticate", AUTH;
    UNSPECIFIED_ERROR = 0x80, "unspecified error", CONNACK | ACK | SUBACK | UNSUBACK | DISCONNECT;
    MALFORMED_PACKET = 0x81, "malformed packet", CONNACK | DISCONNECT;
    PROTOCOL_ERROR = 0x82, "protocol error", CONNACK | DISCONNECT;
    IMPLEMENTATION_ERROR = 0x83, "implementation specific error",
        CONNACK | ACK | SUBACK | UNSUBACK | DISCONNECT;
    UNSUPPORTED_PROTOCOL_VERSION = 0x84, "unsupported protocol version", CONNACK;
    CLIENT_ID_NOT_VALID = 0x85, "client identifier not valid", CONNACK;
    BAD_USER_NAME_OR_PASSWORD = 0x86, "bad user name or password", CONNACK;
    NOT_AUTHORIZED = 0x87, "not authorized", CONNACK | ACK | SUBACK | UNSUBACK | DISCONNECT;
    SERVER_UNAVAILABLE = 0x88, "server unavailable", CONNACK;
    SERVER_BUSY = 0x89, "server busy", CONNACK | DISCONNECT;
    BANNED = 0x8A, "banned", CONNACK;
    SERVER_SHUTTING_DOWN = 0x8B, "server shutting down", DISCONNECT;
    BAD_AUTHENTICATION_METHOD = 0x8C, "bad authentication method", CONNACK | DISCONNECT;
    KEEP_ALIVE_TIMEOUT = 0x8D, "keep alive timeout", DISCONNECT;
    SESSION_TAKEN_OVER = 0x8E, "session taken over", DISCONNECT;
    TOPIC_FILTER_INVALID = 0x8F, "topic filter invalid", SUBACK | UNSUBACK | DISCONNECT;
    TOPIC_NAME_INVALID = 0x90, "topic name invalid", CONNACK | ACK | DISCONNECT;
    PACKET_ID_IN_USE = 0x91, "packet identifier in use", ACK | SUBACK | UNSUBACK;
    PACKET_ID_NOT_FOUND = 0x92, "packet identifier not found", REL;
    RECEIVE_MAXIMUM_EXCEEDED = 0x93, "receive maximum exceeded", DISCONNECT;
    TOPIC_ALIAS_INVALID = 0x94, "topic alias invalid", DISCONNECT;
    PACKET_TOO_LARGE = 0x95, "packet too large", CONNACK | DISCONNECT;
    MESSAGE_RATE_TOO_HIGH = 0x96, "message rate too high", DISCONNECT;
    QUOTA_EXCEEDED = 0x97, "quota exceeded", CONNACK | ACK | SUBACK | DISCONNECT;
    ADMINISTRATIVE_ACTION = 0x98, "administrative action", DISCONNECT;
    PAYLOAD_FORMAT_INVALID = 0x99, "payload format invalid", CONNACK | ACK | DISCONNECT;
    RETAIN_NOT_SUPPORTED = 0x9A, "retain not supported", CONNACK | DISCONNECT;
    QOS_NOT_SUPPORTED = 0x9B, "QoS not supported", CONNACK | DISCONNECT;
    USE_ANOTHER_SERVER = 0x9C, "use another server", CONNACK | DISCONNECT;
    SERVER_MOVED = 0x9D, "server moved", CONNACK | DISCONNECT;
    SHARED_SUBSCRIPTIONS_NOT_SUPPORTED = 0x9E, "shared subscriptions not supported",
        SUBACK | DISCONNECT;
    CONNECTION_RATE_EXCEEDED = 0x9F, "connection rate exceeded", CONNACK | DISCONNECT;
    MAXIMUM_CONNECT_TIME = 0xA0, "maximum connect time", DISCONNECT;
    SUBSCRIPTION_IDS_NOT_SUPPORTED = 0xA1, "subscription identifiers not supported",
        SUBACK | DISCONNECT;
    WILDCARD_NOT_SUPPORTED = 0xA2, "wildcard subscriptions not supported", SUBACK | DISCONNECT;
}

impl ReasonCode {
    /// 0x80 and above mean that what was asked for did not happen.
    #[inline]
    pub fn is_error(self) -> bool {
        self.0 >= 0x80
    }

    /// May this code stand in a packet of this kind (MQTT 5)?
    pub fn fits(self, kind: PacketKind) -> bool {
        let place = match kind {
            PacketKind::ConnAck => CONNACK,
            PacketKind::PubAck | PacketKind::PubRec => ACK,
            PacketKind::PubRel | PacketKind::PubComp => REL,
            PacketKind::SubAck => SUBACK,
            PacketKind::UnsubAck => UNSUBACK,
            PacketKind::Disconnect => DISCONNECT,
            PacketKind::Auth => AUTH,
            _ => return false,
        };
        self.places() & place != 0
    }

    /// The CONNACK return code of 3.1 and 3.1.1 that comes nearest.
    pub fn to_v3_connect(self) -> u8 {
        match self {
            ReasonCode::SUCCESS => 0,
            ReasonCode::UNSUPPORTED_PROTOCOL_VERSION => 1,
            ReasonCode::CLIENT_ID_NOT_VALID => 2,
            ReasonCode::BAD_USER_NAME_OR_PASSWORD => 4,
            ReasonCode::NOT_AUTHORIZED | ReasonCode::BANNED => 5,
            _ => 3,
        }
    }

    /// The reason code a 3.1 or 3.1.1 CONNACK return code stands for.
    pub fn from_v3_connect(code: u8) -> Option<ReasonCode> {
        Some(match code {
            0 => ReasonCode::SUCCESS,
            1 => ReasonCode::UNSUPPORTED_PROTOCOL_VERSION,
            2 => ReasonCode::CLIENT_ID_NOT_VALID,
            3 => ReasonCode::SERVER_UNAVAILABLE,
            4 => ReasonCode::BAD_USER_NAME_OR_PASSWORD,
            5 => ReasonCode::NOT_AUTHORIZED,
            _ => return None,
        })
    }
}

impl std::fmt::Display for ReasonCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} ({:#04x})", self.text(), self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_has_every_code_of_the_specification_once() {
        assert_eq!(ALL.len(), 43);
        assert!(ALL.windows(2).all(|w| w[0] < w[1]));
    }

    #[test]
    fn old_return_codes_go_there_and_back() {
        for code in 0..=5 {
            let reason = ReasonCode::from_v3_connect(code).expect("known");
            assert_eq!(reason.to_v3_connect(), code);
        }
        assert_eq!(ReasonCode::from_v3_connect(6), None);
    }
}
