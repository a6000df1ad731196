//! The primitive types of the wire: integers, variable byte integers, texts, binaries.

use crate::{CodecError, PacketKind};

pub(crate) struct Reader<'a> {
    buf: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(buf: &'a [u8]) -> Self {
        Reader { buf }
    }

    pub(crate) fn left(&self) -> usize {
        self.buf.len()
    }

    pub(crate) fn take(&mut self, n: usize, what: &'static str) -> Result<&'a [u8], CodecError> {
        let (head, tail) = self
            .buf
            .split_at_checked(n)
            .ok_or(CodecError::Truncated { what })?;
        self.buf = tail;
        Ok(head)
    }

    pub(crate) fn rest(&mut self) -> &'a [u8] {
        std::mem::take(&mut self.buf)
    }

    pub(crate) fn u8(&mut self, what: &'static str) -> Result<u8, CodecError> {
        let (&first, tail) = self
            .buf
            .split_first()
            .ok_or(CodecError::Truncated { what })?;
        self.buf = tail;
        Ok(first)
    }

    pub(crate) fn u16(&mut self, what: &'static str) -> Result<u16, CodecError> {
        let (head, tail) = self
            .buf
            .split_first_chunk::<2>()
            .ok_or(CodecError::Truncated { what })?;
        self.buf = tail;
        Ok(u16::from_be_bytes(*head))
    }

    pub(crate) fn u32(&mut self, what: &'static str) -> Result<u32, CodecError> {
        let (head, tail) = self
            .buf
            .split_first_chunk::<4>()
            .ok_or(CodecError::Truncated { what })?;
        self.buf = tail;
        Ok(u32::from_be_bytes(*head))
    }

    pub(crate) fn varint(&mut self, what: &'static str) -> Result<u32, CodecError> {
        match varint(self.buf)? {
            Some((value, used)) => {
                self.buf = &self.buf[used..];
                Ok(value)
            }
            None => Err(CodecError::Truncated { what }),
        }
    }

    pub(crate) fn binary(&mut self, what: &'static str) -> Result<&'a [u8], CodecError> {
        let len = self.u16(what)?;
        self.take(usize::from(len), what)
    }

    pub(crate) fn text(&mut self, what: &'static str) -> Result<&'a str, CodecError> {
        let bytes = self.binary(what)?;
        match std::str::from_utf8(bytes) {
            Ok(text) if !bytes.contains(&0) => Ok(text),
            _ => Err(CodecError::BadText { what }),
        }
    }

    pub(crate) fn packet_id(&mut self) -> Result<u16, CodecError> {
        match self.u16("packet identifier")? {
            0 => Err(CodecError::ZeroPacketId),
            id => Ok(id),
        }
    }

    pub(crate) fn end(&self, kind: PacketKind) -> Result<(), CodecError> {
        match self.buf.len() {
            0 => Ok(()),
            left => Err(CodecError::TrailingBytes { kind, left }),
        }
    }
}

/// A variable byte integer at the head of `buf`: value and bytes used; `None` = not all there.
#[inline]
pub(crate) fn varint(buf: &[u8]) -> Result<Option<(u32, usize)>, CodecError> {
    let mut value = 0u32;
    for (i, &byte) in buf.iter().take(4).enumerate() {
        value |= u32::from(byte & 0x7F) << (7 * i);
        if byte & 0x80 == 0 {
            return Ok(Some((value, i + 1)));
        }
    }
    if buf.len() >= 4 {
        Err(CodecError::BadLength)
    } else {
        Ok(None)
    }
}

/// The largest value of a variable byte integer.
pub(crate) const VARINT_MAX: usize = 268_435_455;

#[inline]
pub(crate) fn varint_len(value: usize) -> usize {
    match value {
        0..=127 => 1,
        128..=16_383 => 2,
        16_384..=2_097_151 => 3,
        _ => 4,
    }
}

#[inline]
pub(crate) fn put_varint(out: &mut Vec<u8>, mut value: usize) {
    while value > 0x7F {
        out.push((value & 0x7F) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(crate) fn put_binary(
    out: &mut Vec<u8>,
    bytes: &[u8],
    what: &'static str,
) -> Result<(), CodecError> {
    let len = u16::try_from(bytes.len()).map_err(|_| CodecError::TextTooLong {
        what,
        len: bytes.len(),
    })?;
    out.extend_from_slice(&len.to_be_bytes());
    out.extend_from_slice(bytes);
    Ok(())
}

pub(crate) fn put_text(
    out: &mut Vec<u8>,
    text: &str,
    what: &'static str,
) -> Result<(), CodecError> {
    if text.as_bytes().contains(&0) {
        return Err(CodecError::BadText { what });
    }
    put_binary(out, text.as_bytes(), what)
}

/// Writes what `body` writes, with its length as a variable byte integer in front. One byte is
/// set aside for the length, which suffices nearly always; a longer body moves up.
pub(crate) fn put_sized(
    out: &mut Vec<u8>,
    body: impl FnOnce(&mut Vec<u8>) -> Result<(), CodecError>,
) -> Result<(), CodecError> {
    let at = out.len();
    out.push(0);
    body(out)?;
    let len = out.len() - at - 1;
    if len > VARINT_MAX {
        return Err(CodecError::TooLarge {
            len,
            max: VARINT_MAX,
        });
    }
    let mut prefix = [0u8; 4];
    let used = varint_len(len);
    let mut value = len;
    for byte in &mut prefix[..used] {
        *byte = (value & 0x7F) as u8 | 0x80;
        value >>= 7;
    }
    prefix[used - 1] &= 0x7F;
    out.splice(at..=at, prefix[..used].iter().copied());
    Ok(())
}
