//! SUBSCRIBE: topics the client wants to hear of.

use crate::connect::{put_properties, read_properties};
use crate::property::Place;
use crate::wire::{self, Reader};
use crate::{CodecError, PacketKind, Properties, QoS, Version, frame, topic};

/// What to do with retained messages when a subscription is made (MQTT 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum RetainHandling {
    #[default]
    Send = 0,
    SendIfNew = 1,
    DoNotSend = 2,
}

/// One filter of a SUBSCRIBE with its options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SubscribeFilter {
    pub filter: String,
    pub qos: QoS,
    pub no_local: bool,
    pub retain_as_published: bool,
    pub retain_handling: RetainHandling,
}

impl SubscribeFilter {
    pub fn new(filter: impl Into<String>, qos: QoS) -> SubscribeFilter {
        SubscribeFilter {
            filter: filter.into(),
            qos,
            ..Default::default()
        }
    }

    fn options(&self) -> u8 {
        self.qos as u8
            | u8::from(self.no_local) << 2
            | u8::from(self.retain_as_published) << 3
            | (self.retain_handling as u8) << 4
    }
}

/// Filters are not judged here: a bad one is answered in SUBACK, without ending the connection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Subscribe {
    pub packet_id: u16,
    pub properties: Properties,
    pub filters: Vec<SubscribeFilter>,
}

impl Subscribe {
    pub(crate) fn read(version: Version, body: &[u8]) -> Result<Self, CodecError> {
        let kind = PacketKind::Subscribe;
        let mut r = Reader::new(body);
        let packet_id = r.packet_id()?;
        let properties = read_properties(&mut r, version, Place::SUBSCRIBE)?;
        let mut filters = Vec::new();
        while r.left() > 0 {
            filters.push(read_filter(&mut r, version)?);
        }
        if filters.is_empty() {
            return Err(CodecError::EmptyList { kind });
        }
        Ok(Subscribe {
            packet_id,
            properties,
            filters,
        })
    }

    pub(crate) fn put(&self, version: Version, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let kind = PacketKind::Subscribe;
        if self.packet_id == 0 {
            return Err(CodecError::ZeroPacketId);
        }
        if self.filters.is_empty() {
            return Err(CodecError::EmptyList { kind });
        }
        frame::put(out, kind, |out| {
            out.extend_from_slice(&self.packet_id.to_be_bytes());
            put_properties(&self.properties, out, version, Place::SUBSCRIBE)?;
            for filter in &self.filters {
                if !topic::valid_filter(&filter.filter) {
                    return Err(CodecError::BadTopicFilter);
                }
                wire::put_text(out, &filter.filter, "topic filter")?;
                let options = filter.options();
                out.push(if version.is_v5() {
                    options
                } else {
                    options & 3
                });
            }
            Ok(())
        })
    }
}

fn read_filter(r: &mut Reader<'_>, version: Version) -> Result<SubscribeFilter, CodecError> {
    let filter = r.text("topic filter")?.to_owned();
    let bits = r.u8("subscription options")?;
    let bad = CodecError::BadSubscriptionOptions { bits };
    if bits
        & if version.is_v5() {
            0b1100_0000
        } else {
            0b1111_1100
        }
        != 0
    {
        return Err(bad);
    }
    let retain_handling = match bits >> 4 {
        0 => RetainHandling::Send,
        1 => RetainHandling::SendIfNew,
        2 => RetainHandling::DoNotSend,
        _ => return Err(bad),
    };
    Ok(SubscribeFilter {
        filter,
        qos: QoS::from_bits(bits & 3)?,
        no_local: bits & 0b100 != 0,
        retain_as_published: bits & 0b1000 != 0,
        retain_handling,
    })
}
