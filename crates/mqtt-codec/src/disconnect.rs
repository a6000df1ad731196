//! DISCONNECT: the connection ends, and why.

use crate::property::Place;
use crate::wire::Reader;
use crate::{CodecError, PacketKind, Properties, ReasonCode, Version, frame};

/// A client sends it in every version, a server only in MQTT 5.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Disconnect {
    pub reason: ReasonCode,
    pub properties: Properties,
}

impl Disconnect {
    pub fn new(reason: ReasonCode) -> Disconnect {
        Disconnect {
            reason,
            properties: Properties::default(),
        }
    }

    pub(crate) fn read(version: Version, body: &[u8]) -> Result<Self, CodecError> {
        let kind = PacketKind::Disconnect;
        let mut r = Reader::new(body);
        let mut packet = Disconnect::default();
        if version.is_v5() && r.left() > 0 {
            let code = r.u8("reason code")?;
            packet.reason = ReasonCode(code);
            if !packet.reason.fits(kind) {
                return Err(CodecError::BadReason { kind, code });
            }
            if r.left() > 0 {
                packet.properties = Properties::read(&mut r, Place::DISCONNECT)?;
            }
        }
        r.end(kind)?;
        Ok(packet)
    }

    pub(crate) fn put(&self, version: Version, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let kind = PacketKind::Disconnect;
        frame::put(out, kind, |out| {
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
                false => self.properties.put(out, Place::DISCONNECT),
            }
        })
    }
}
