//! AUTH: a step of an extended authentication (MQTT 5 only).

use crate::property::Place;
use crate::wire::Reader;
use crate::{CodecError, PacketKind, Properties, ReasonCode, Version, frame};

/// Reason and properties are left out on the wire when they say nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Auth {
    pub reason: ReasonCode,
    pub properties: Properties,
}

impl Auth {
    pub fn new(reason: ReasonCode) -> Auth {
        Auth {
            reason,
            properties: Properties::default(),
        }
    }

    pub(crate) fn read(version: Version, body: &[u8]) -> Result<Self, CodecError> {
        let kind = PacketKind::Auth;
        let mut r = Reader::new(body);
        let mut packet = Auth::default();
        if !version.is_v5() {
            return Err(CodecError::NotInVersion { kind });
        }
        if r.left() > 0 {
            let code = r.u8("reason code")?;
            packet.reason = ReasonCode(code);
            if !packet.reason.fits(kind) {
                return Err(CodecError::BadReason { kind, code });
            }
            if r.left() > 0 {
                packet.properties = Properties::read(&mut r, Place::AUTH)?;
            }
        }
        r.end(kind)?;
        Ok(packet)
    }

    pub(crate) fn put(&self, version: Version, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let kind = PacketKind::Auth;
        if !version.is_v5() {
            return Err(CodecError::NotInVersion { kind });
        }
        frame::put(out, kind, |out| {
            let plain = self.reason == ReasonCode::SUCCESS && self.properties.is_empty();
            if plain {
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
                false => self.properties.put(out, Place::AUTH),
            }
        })
    }
}
