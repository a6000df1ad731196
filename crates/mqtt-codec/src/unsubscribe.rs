//! UNSUBSCRIBE: filters the client no longer wants.

use crate::connect::{put_properties, read_properties};
use crate::property::Place;
use crate::wire::{self, Reader};
use crate::{CodecError, PacketKind, Properties, Version, frame};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unsubscribe {
    pub packet_id: u16,
    pub properties: Properties,
    pub filters: Vec<String>,
}

impl Unsubscribe {
    pub(crate) fn read(version: Version, body: &[u8]) -> Result<Self, CodecError> {
        let kind = PacketKind::Unsubscribe;
        let mut r = Reader::new(body);
        let packet_id = r.packet_id()?;
        let properties = read_properties(&mut r, version, Place::UNSUBSCRIBE)?;
        let mut filters = Vec::new();
        while r.left() > 0 {
            filters.push(r.text("topic filter")?.to_owned());
        }
        if filters.is_empty() {
            return Err(CodecError::EmptyList { kind });
        }
        Ok(Unsubscribe {
            packet_id,
            properties,
            filters,
        })
    }

    pub(crate) fn put(&self, version: Version, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let kind = PacketKind::Unsubscribe;
        if self.packet_id == 0 {
            return Err(CodecError::ZeroPacketId);
        }
        if self.filters.is_empty() {
            return Err(CodecError::EmptyList { kind });
        }
        frame::put(out, kind, |out| {
            out.extend_from_slice(&self.packet_id.to_be_bytes());
            put_properties(&self.properties, out, version, Place::UNSUBSCRIBE)?;
            for filter in &self.filters {
                wire::put_text(out, filter, "topic filter")?;
            }
            Ok(())
        })
    }
}
