//! Protocol version and quality of service.

use crate::CodecError;

/// The protocol version a connection agreed on in its CONNECT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Version {
    /// MQTT 3.1 (`MQIsdp`, level 3)
    V31,
    /// MQTT 3.1.1 (`MQTT`, level 4)
    V311,
    /// MQTT 5 (`MQTT`, level 5)
    V5,
}

impl Version {
    /// Does this version carry properties and reason codes?
    #[inline]
    pub fn is_v5(self) -> bool {
        self == Version::V5
    }

    pub(crate) fn name_and_level(self) -> (&'static str, u8) {
        match self {
            Version::V31 => ("MQIsdp", 3),
            Version::V311 => ("MQTT", 4),
            Version::V5 => ("MQTT", 5),
        }
    }

    pub(crate) fn from_name_and_level(name: &[u8], level: u8) -> Result<Version, CodecError> {
        match (name, level) {
            (b"MQIsdp", 3) => Ok(Version::V31),
            (b"MQTT", 4) => Ok(Version::V311),
            (b"MQTT", 5) => Ok(Version::V5),
            _ => Err(CodecError::UnsupportedVersion { level }),
        }
    }
}

/// Quality of service of a message or of a subscription.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum QoS {
    /// At most once
    #[default]
    AtMostOnce = 0,
    /// At least once
    AtLeastOnce = 1,
    /// Exactly once
    ExactlyOnce = 2,
}

impl QoS {
    /// The QoS of the two low bits; 3 does not exist.
    #[inline]
    pub fn from_bits(bits: u8) -> Result<QoS, CodecError> {
        match bits {
            0 => Ok(QoS::AtMostOnce),
            1 => Ok(QoS::AtLeastOnce),
            2 => Ok(QoS::ExactlyOnce),
            _ => Err(CodecError::BadQos),
        }
    }
}
