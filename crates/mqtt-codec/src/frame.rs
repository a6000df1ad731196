//! Finding packets in a byte stream.

use std::ops::Range;

use crate::{CodecError, Version, wire};

/// The kind of a control packet, numbered as on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum PacketKind {
    Connect = 1,
    ConnAck = 2,
    Publish = 3,
    PubAck = 4,
    PubRec = 5,
    PubRel = 6,
    PubComp = 7,
    Subscribe = 8,
    SubAck = 9,
    Unsubscribe = 10,
    UnsubAck = 11,
    PingReq = 12,
    PingResp = 13,
    Disconnect = 14,
    Auth = 15,
}

impl PacketKind {
    #[inline]
    fn from_bits(bits: u8) -> Option<PacketKind> {
        use PacketKind::*;
        const KINDS: [Option<PacketKind>; 16] = [
            None,
            Some(Connect),
            Some(ConnAck),
            Some(Publish),
            Some(PubAck),
            Some(PubRec),
            Some(PubRel),
            Some(PubComp),
            Some(Subscribe),
            Some(SubAck),
            Some(Unsubscribe),
            Some(UnsubAck),
            Some(PingReq),
            Some(PingResp),
            Some(Disconnect),
            Some(Auth),
        ];
        KINDS[usize::from(bits & 0x0F)]
    }

    /// The fixed header flags this kind must have; PUBLISH uses them for its own ends.
    fn required_flags(self) -> u8 {
        match self {
            PacketKind::PubRel | PacketKind::Subscribe | PacketKind::Unsubscribe => 0b0010,
            _ => 0,
        }
    }
}

/// One complete packet inside a buffer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    pub kind: PacketKind,
    /// The low four bits of the first byte
    pub flags: u8,
    /// What follows the fixed header, as a range of the scanned buffer
    pub body: Range<usize>,
    /// Fixed header and body together: where the next packet begins
    pub total_len: usize,
}

impl Frame {
    /// Are the flags those the kind must have? (3.1 lets clients mark repeats there.)
    pub fn check_flags(&self, version: Version) -> Result<(), CodecError> {
        if self.kind == PacketKind::Publish {
            return Ok(());
        }
        let dup = if version == Version::V31 { 0b1000 } else { 0 };
        if self.flags & !dup == self.kind.required_flags() {
            Ok(())
        } else {
            Err(CodecError::BadFlags {
                kind: self.kind,
                flags: self.flags,
            })
        }
    }
}

/// The largest packet MQTT can frame, fixed header included.
pub const PACKET_BYTES_MAX: usize = wire::VARINT_MAX + 5;

/// The next complete packet at the head of `buf`; `None` = more bytes are needed.
#[inline]
pub fn scan(buf: &[u8]) -> Result<Option<Frame>, CodecError> {
    scan_limited(buf, PACKET_BYTES_MAX)
}

/// As [`scan`], and a packet over `max` bytes is refused as soon as its header is there.
#[inline]
pub fn scan_limited(buf: &[u8], max: usize) -> Result<Option<Frame>, CodecError> {
    let Some((&first, rest)) = buf.split_first() else {
        return Ok(None);
    };
    let Some(kind) = PacketKind::from_bits(first >> 4) else {
        return Err(CodecError::ReservedType);
    };
    // nearly all packets have a length of one or two bytes
    let (len, used) = match rest {
        [a, ..] if *a < 0x80 => (usize::from(*a), 1),
        [a, b, ..] if *b < 0x80 => (usize::from(a & 0x7F) | usize::from(*b) << 7, 2),
        _ => match wire::varint(rest)? {
            Some((len, used)) => (len as usize, used),
            None => return Ok(None),
        },
    };
    let start = 1 + used;
    let total_len = start + len;
    if total_len > max {
        return Err(CodecError::TooLarge {
            len: total_len,
            max,
        });
    }
    if buf.len() < total_len {
        return Ok(None);
    }
    Ok(Some(Frame {
        kind,
        flags: first & 0x0F,
        body: start..total_len,
        total_len,
    }))
}

/// How long the packet at the head of `buf` will be, once its header is there.
pub fn needed(buf: &[u8]) -> Option<usize> {
    let (len, used) = wire::varint(buf.get(1..)?).ok()??;
    Some(1 + used + len as usize)
}

pub(crate) fn put(
    out: &mut Vec<u8>,
    kind: PacketKind,
    body: impl FnOnce(&mut Vec<u8>) -> Result<(), CodecError>,
) -> Result<(), CodecError> {
    let start = out.len();
    out.push((kind as u8) << 4 | kind.required_flags());
    let done = wire::put_sized(out, body);
    if done.is_err() {
        out.truncate(start);
    }
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_packets_and_waits_for_the_rest() {
        let bytes = [0xC0, 0x00, 0x30, 0x03, 0x00, 0x01, b'a', 0x30];
        let ping = scan(&bytes).expect("valid").expect("complete");
        assert_eq!((ping.kind, ping.total_len), (PacketKind::PingReq, 2));
        let publish = scan(&bytes[2..]).expect("valid").expect("complete");
        assert_eq!(
            (publish.kind, publish.body, publish.total_len),
            (PacketKind::Publish, 2..5, 5)
        );
        assert_eq!(scan(&bytes[7..]), Ok(None));
        assert_eq!(scan(&[]), Ok(None));
        assert_eq!(needed(&bytes[2..]), Some(5));
    }

    #[test]
    fn long_lengths() {
        for len in [127usize, 128, 16_383, 16_384, 2_097_151, 2_097_152] {
            let mut bytes = vec![0x30];
            wire::put_varint(&mut bytes, len);
            let start = bytes.len();
            assert_eq!(scan(&bytes), Ok(None));
            bytes.resize(start + len, 7);
            assert_eq!(
                scan(&bytes).expect("valid").expect("all").body,
                start..start + len
            );
        }
        assert_eq!(
            scan(&[0x30, 0xFF, 0xFF, 0xFF, 0xFF, 1]),
            Err(CodecError::BadLength)
        );
        assert_eq!(scan(&[0x30, 0xFF, 0xFF]), Ok(None));
        assert_eq!(scan(&[0x0F]), Err(CodecError::ReservedType));
        let too_large = CodecError::TooLarge { len: 103, max: 100 };
        assert_eq!(scan_limited(&[0x30, 101], 100), Err(too_large));
    }
}
