//! CONNACK: the server's answer to CONNECT.

use crate::connect::{put_properties, read_properties};
use crate::property::Place;
use crate::wire::Reader;
use crate::{CodecError, PacketKind, Properties, ReasonCode, Version, frame};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnAck {
    pub session_present: bool,
    /// Before MQTT 5 the return codes 0 to 5, mapped to their reason codes
    pub reason: ReasonCode,
    pub properties: Properties,
}

impl ConnAck {
    pub(crate) fn read(version: Version, body: &[u8]) -> Result<Self, CodecError> {
        let kind = PacketKind::ConnAck;
        let mut r = Reader::new(body);
        let flags = r.u8("acknowledge flags")?;
        if flags > 1 {
            return Err(CodecError::BadFlags { kind, flags });
        }
        let code = r.u8("reason code")?;
        let reason = if version.is_v5() {
            Some(ReasonCode(code)).filter(|reason| reason.fits(kind))
        } else {
            ReasonCode::from_v3_connect(code)
        };
        let reason = reason.ok_or(CodecError::BadReason { kind, code })?;
        let properties = read_properties(&mut r, version, Place::CONNACK)?;
        r.end(kind)?;
        Ok(ConnAck {
            session_present: flags == 1,
            reason,
            properties,
        })
    }

    pub(crate) fn put(&self, version: Version, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let kind = PacketKind::ConnAck;
        frame::put(out, kind, |out| {
            out.push(u8::from(self.session_present));
            if !version.is_v5() {
                out.push(self.reason.to_v3_connect());
                return Ok(());
            }
            if !self.reason.fits(kind) {
                return Err(CodecError::BadReason {
                    kind,
                    code: self.reason.0,
                });
            }
            out.push(self.reason.0);
            put_properties(&self.properties, out, version, Place::CONNACK)
        })
    }
}
