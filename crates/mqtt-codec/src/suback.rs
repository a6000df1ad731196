//! SUBACK: one answer for each filter of a SUBSCRIBE.

use crate::connect::{put_properties, read_properties};
use crate::property::Place;
use crate::wire::Reader;
use crate::{CodecError, PacketKind, Properties, ReasonCode, Version, frame};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubAck {
    pub packet_id: u16,
    pub properties: Properties,
    /// The granted QoS or why not; before MQTT 5 each refusal is 0x80
    pub reasons: Vec<ReasonCode>,
}

impl SubAck {
    pub(crate) fn read(version: Version, body: &[u8]) -> Result<Self, CodecError> {
        let kind = PacketKind::SubAck;
        let mut r = Reader::new(body);
        let packet_id = r.packet_id()?;
        let properties = read_properties(&mut r, version, Place::SUBACK)?;
        let reasons: Vec<_> = r.rest().iter().map(|&code| ReasonCode(code)).collect();
        let fits = |reason: &ReasonCode| match version {
            Version::V5 => reason.fits(kind),
            _ => matches!(reason.0, 0..=2 | 0x80),
        };
        if let Some(bad) = reasons.iter().find(|reason| !fits(reason)) {
            return Err(CodecError::BadReason { kind, code: bad.0 });
        }
        if reasons.is_empty() {
            return Err(CodecError::EmptyList { kind });
        }
        Ok(SubAck {
            packet_id,
            properties,
            reasons,
        })
    }

    pub(crate) fn put(&self, version: Version, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let kind = PacketKind::SubAck;
        if self.packet_id == 0 {
            return Err(CodecError::ZeroPacketId);
        }
        if self.reasons.is_empty() {
            return Err(CodecError::EmptyList { kind });
        }
        frame::put(out, kind, |out| {
            out.extend_from_slice(&self.packet_id.to_be_bytes());
            put_properties(&self.properties, out, version, Place::SUBACK)?;
            for reason in &self.reasons {
                if !reason.fits(kind) {
                    return Err(CodecError::BadReason {
                        kind,
                        code: reason.0,
                    });
                }
                let code = if version.is_v5() {
                    reason.0
                } else {
                    reason.0.min(0x80)
                };
                out.push(code);
            }
            Ok(())
        })
    }
}
