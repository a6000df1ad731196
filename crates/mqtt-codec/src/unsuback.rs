//! UNSUBACK: the answer to UNSUBSCRIBE.

use crate::connect::{put_properties, read_properties};
use crate::property::Place;
use crate::wire::Reader;
use crate::{CodecError, PacketKind, Properties, ReasonCode, Version, frame};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UnsubAck {
    pub packet_id: u16,
    pub properties: Properties,
    /// One for each filter; empty before MQTT 5, which has none
    pub reasons: Vec<ReasonCode>,
}

impl UnsubAck {
    pub(crate) fn read(version: Version, body: &[u8]) -> Result<Self, CodecError> {
        let kind = PacketKind::UnsubAck;
        let mut r = Reader::new(body);
        let packet_id = r.packet_id()?;
        let properties = read_properties(&mut r, version, Place::SUBACK)?;
        if !version.is_v5() {
            r.end(kind)?;
            return Ok(UnsubAck {
                packet_id,
                properties,
                reasons: Vec::new(),
            });
        }
        let reasons: Vec<_> = r.rest().iter().map(|&code| ReasonCode(code)).collect();
        if let Some(bad) = reasons.iter().find(|reason| !reason.fits(kind)) {
            return Err(CodecError::BadReason { kind, code: bad.0 });
        }
        if reasons.is_empty() {
            return Err(CodecError::EmptyList { kind });
        }
        Ok(UnsubAck {
            packet_id,
            properties,
            reasons,
        })
    }

    pub(crate) fn put(&self, version: Version, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let kind = PacketKind::UnsubAck;
        if self.packet_id == 0 {
            return Err(CodecError::ZeroPacketId);
        }
        if version.is_v5() && self.reasons.is_empty() {
            return Err(CodecError::EmptyList { kind });
        }
        frame::put(out, kind, |out| {
            out.extend_from_slice(&self.packet_id.to_be_bytes());
            if !version.is_v5() {
                return Ok(());
            }
            put_properties(&self.properties, out, version, Place::SUBACK)?;
            for reason in &self.reasons {
                if !reason.fits(kind) {
                    return Err(CodecError::BadReason {
                        kind,
                        code: reason.0,
                    });
                }
                out.push(reason.0);
            }
            Ok(())
        })
    }
}
