//! PUBLISH: a message on a topic.

use std::ops::Range;

use bytes::Bytes;

use crate::property::Place;
use crate::wire;
use crate::{CodecError, PacketKind, Properties, QoS, Version};

/// A PUBLISH as ranges of the body it was read from; nothing is copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishView {
    /// UTF-8 and a valid name; empty only in MQTT 5, where an alias then stands for it
    pub topic: Range<usize>,
    pub packet_id: Option<u16>,
    pub qos: QoS,
    pub dup: bool,
    pub retain: bool,
    /// The property section without its length. Only its bounds were checked:
    /// [`Properties::decode`] reads it
    pub properties: Range<usize>,
    pub payload: Range<usize>,
}

/// Looks at a PUBLISH without copying. `flags` are those of the fixed header, `body` what
/// follows it; the ranges count from the start of `body`.
#[inline]
pub fn view(version: Version, flags: u8, body: &[u8]) -> Result<PublishView, CodecError> {
    let qos = QoS::from_bits((flags >> 1) & 3)?;
    let dup = flags & 0b1000 != 0;
    if dup && qos == QoS::AtMostOnce {
        return Err(CodecError::DupAtQos0);
    }
    let Some((head, _)) = body.split_first_chunk::<2>() else {
        return Err(CodecError::Truncated { what: "topic name" });
    };
    let topic = 2..2 + usize::from(u16::from_be_bytes(*head));
    let Some(name) = body.get(topic.clone()) else {
        return Err(CodecError::Truncated { what: "topic name" });
    };
    check_name(name)?;
    let mut at = topic.end;
    let packet_id = if qos == QoS::AtMostOnce {
        None
    } else {
        let Some((id, _)) = body[at..].split_first_chunk::<2>() else {
            return Err(CodecError::Truncated {
                what: "packet identifier",
            });
        };
        at += 2;
        match u16::from_be_bytes(*id) {
            0 => return Err(CodecError::ZeroPacketId),
            id => Some(id),
        }
    };
    let properties = if version.is_v5() {
        let range = property_range(body, at)?;
        at = range.end;
        range
    } else {
        at..at
    };
    if name.is_empty() && properties.is_empty() {
        return Err(CodecError::BadTopicName);
    }
    let retain = flags & 1 != 0;
    Ok(PublishView {
        topic,
        packet_id,
        qos,
        dup,
        retain,
        properties,
        payload: at..body.len(),
    })
}

#[inline]
fn property_range(body: &[u8], at: usize) -> Result<Range<usize>, CodecError> {
    let truncated = CodecError::Truncated { what: "properties" };
    let (len, used) = wire::varint(&body[at..])?.ok_or(truncated)?;
    let range = at + used..at + used + len as usize;
    if range.end > body.len() {
        Err(truncated)
    } else {
        Ok(range)
    }
}

/// One pass without early exit, so that the compiler turns it into vector code; names that are
/// not plain ASCII are looked at again, slowly.
#[inline]
fn check_name(name: &[u8]) -> Result<(), CodecError> {
    let mut odd = false;
    for &b in name {
        odd |= b >= 0x80 || b == 0 || b == b'+' || b == b'#';
    }
    if odd { check_odd_name(name) } else { Ok(()) }
}

#[cold]
fn check_odd_name(name: &[u8]) -> Result<(), CodecError> {
    if std::str::from_utf8(name).is_err() {
        return Err(CodecError::BadText { what: "topic name" });
    }
    if name.iter().any(|b| matches!(b, 0 | b'+' | b'#')) {
        return Err(CodecError::BadTopicName);
    }
    Ok(())
}

/// What [`write`] needs besides the destination, all borrowed.
#[derive(Clone, Copy, Debug)]
pub struct PublishParts<'a> {
    pub topic: &'a [u8],
    /// Must be there at QoS 1 and 2, and is left out at QoS 0
    pub packet_id: Option<u16>,
    pub qos: QoS,
    pub dup: bool,
    pub retain: bool,
    /// Encoded property sections, written one after the other; ignored before MQTT 5
    pub properties: [&'a [u8]; 2],
    pub payload: &'a [u8],
}

impl PublishParts<'_> {
    /// The bytes this message takes on the wire.
    #[inline]
    pub fn encoded_len(&self, version: Version) -> usize {
        let body = self.body_len(version);
        1 + wire::varint_len(body) + body
    }

    #[inline]
    fn body_len(&self, version: Version) -> usize {
        let id = if self.qos == QoS::AtMostOnce { 0 } else { 2 };
        let properties = if version.is_v5() {
            let len = self.properties_len();
            wire::varint_len(len) + len
        } else {
            0
        };
        2 + self.topic.len() + id + properties + self.payload.len()
    }

    #[inline]
    fn properties_len(&self) -> usize {
        self.properties[0].len() + self.properties[1].len()
    }
}

/// Appends a PUBLISH. The topic must be a valid name and the properties well encoded: both are
/// trusted, as they come from a checked packet or a checked configuration.
#[inline]
pub fn write(
    out: &mut Vec<u8>,
    version: Version,
    parts: &PublishParts<'_>,
) -> Result<(), CodecError> {
    let body = parts.body_len(version);
    if body > wire::VARINT_MAX {
        return Err(CodecError::TooLarge {
            len: body,
            max: wire::VARINT_MAX,
        });
    }
    let topic_len = u16::try_from(parts.topic.len()).map_err(|_| CodecError::TextTooLong {
        what: "topic name",
        len: parts.topic.len(),
    })?;
    if parts.qos != QoS::AtMostOnce && parts.packet_id.unwrap_or(0) == 0 {
        return Err(CodecError::ZeroPacketId);
    }
    out.reserve(body + 5);
    let flags = u8::from(parts.dup) << 3 | (parts.qos as u8) << 1 | u8::from(parts.retain);
    out.push((PacketKind::Publish as u8) << 4 | flags);
    wire::put_varint(out, body);
    out.extend_from_slice(&topic_len.to_be_bytes());
    out.extend_from_slice(parts.topic);
    if parts.qos != QoS::AtMostOnce {
        out.extend_from_slice(&parts.packet_id.unwrap_or(0).to_be_bytes());
    }
    if version.is_v5() {
        wire::put_varint(out, parts.properties_len());
        out.extend_from_slice(parts.properties[0]);
        out.extend_from_slice(parts.properties[1]);
    }
    out.extend_from_slice(parts.payload);
    Ok(())
}

/// An owned PUBLISH.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Publish {
    pub topic: String,
    pub packet_id: Option<u16>,
    pub qos: QoS,
    pub dup: bool,
    pub retain: bool,
    pub properties: Properties,
    pub payload: Bytes,
}

impl Publish {
    pub(crate) fn read(version: Version, flags: u8, body: &[u8]) -> Result<Self, CodecError> {
        let view = view(version, flags, body)?;
        let properties = Properties::decode(&body[view.properties], Place::PUBLISH)?;
        let name = &body[view.topic];
        if name.is_empty() && properties.topic_alias().is_none() {
            return Err(CodecError::BadTopicName);
        }
        let topic = std::str::from_utf8(name)
            .map_err(|_| CodecError::BadText { what: "topic name" })?
            .to_owned();
        Ok(Publish {
            topic,
            packet_id: view.packet_id,
            qos: view.qos,
            dup: view.dup,
            retain: view.retain,
            properties,
            payload: Bytes::copy_from_slice(&body[view.payload]),
        })
    }

    pub(crate) fn put(&self, version: Version, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let by_alias = version.is_v5() && self.properties.topic_alias().is_some();
        let unnamed = self.topic.is_empty() && by_alias;
        if !unnamed && !crate::topic::valid_name(&self.topic) {
            return Err(CodecError::BadTopicName);
        }
        if self.dup && self.qos == QoS::AtMostOnce {
            return Err(CodecError::DupAtQos0);
        }
        let mut section = Vec::new();
        if version.is_v5() {
            // encoded with its length by `put`; the length is taken off again here
            self.properties.put(&mut section, Place::PUBLISH)?;
            let (_, used) = wire::varint(&section)?.ok_or(CodecError::BadLength)?;
            section.drain(..used);
        }
        let parts = PublishParts {
            topic: self.topic.as_bytes(),
            packet_id: self.packet_id,
            qos: self.qos,
            dup: self.dup,
            retain: self.retain,
            properties: [&section, &[]],
            payload: &self.payload,
        };
        write(out, version, &parts)
    }
}
