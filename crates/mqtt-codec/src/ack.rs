//! PUBACK, PUBREC, PUBREL and PUBCOMP: four packets of one shape.

use crate::property::Place;
use crate::wire::Reader;
use crate::{CodecError, PacketKind, Properties, ReasonCode, Version, frame};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ack {
    pub packet_id: u16,
    /// Always success before MQTT 5
    pub reason: ReasonCode,
    pub properties: Properties,
}

impl Ack {
    pub fn new(packet_id: u16, reason: ReasonCode) -> Ack {
        Ack {
            packet_id,
            reason,
            properties: Properties::default(),
        }
    }

    pub(crate) fn read(
        version: Version,
        kind: PacketKind,
        body: &[u8],
    ) -> Result<Self, CodecError> {
        let mut r = Reader::new(body);
        let mut ack = Ack::new(r.packet_id()?, ReasonCode::SUCCESS);
        if version.is_v5() && r.left() > 0 {
            let code = r.u8("reason code")?;
            ack.reason = ReasonCode(code);
            if !ack.reason.fits(kind) {
                return Err(CodecError::BadReason { kind, code });
            }
            if r.left() > 0 {
                ack.properties = Properties::read(&mut r, Place::ACK)?;
            }
        }
        r.end(kind)?;
        Ok(ack)
    }

    pub(crate) fn put(
        &self,
        version: Version,
        kind: PacketKind,
        out: &mut Vec<u8>,
    ) -> Result<(), CodecError> {
        if self.packet_id == 0 {
            return Err(CodecError::ZeroPacketId);
        }
        frame::put(out, kind, |out| {
            out.extend_from_slice(&self.packet_id.to_be_bytes());
            let plain = self.reason == ReasonCode::SUCCESS && self.properties.is_empty();
            if !version.is_v5() || plain {
                return Ok(());
            }
            if !self.reason.fits(kind) {
                return Err(CodecError::BadReason {
                    kind,
                    code: self.reason.0,
                });
            }
            out.push(self.reason.0);
            match self.properties.is_empty() {
                true => Ok(()),
                false => self.properties.put(out, Place::ACK),
            }
        })
    }
}

/// Appends an acknowledgement without properties; the hot way, it cannot fail.
#[inline]
pub fn write(
    out: &mut Vec<u8>,
    version: Version,
    kind: PacketKind,
    packet_id: u16,
    reason: ReasonCode,
) {
    let first = (kind as u8) << 4
        | if kind == PacketKind::PubRel {
            0b0010
        } else {
            0
        };
    let [high, low] = packet_id.to_be_bytes();
    if version.is_v5() && reason != ReasonCode::SUCCESS {
        out.extend_from_slice(&[first, 3, high, low, reason.0]);
    } else {
        out.extend_from_slice(&[first, 2, high, low]);
    }
}
