//! The owned packet of any kind.

use crate::*;

/// Any control packet, owned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Packet {
    Connect(Connect),
    ConnAck(ConnAck),
    Publish(Publish),
    PubAck(Ack),
    PubRec(Ack),
    PubRel(Ack),
    PubComp(Ack),
    Subscribe(Subscribe),
    SubAck(SubAck),
    Unsubscribe(Unsubscribe),
    UnsubAck(UnsubAck),
    PingReq,
    PingResp,
    Disconnect(Disconnect),
    Auth(Auth),
}

impl Packet {
    /// The first packet of `buf` and how many bytes it took; `None` = more bytes are needed.
    /// A CONNECT names its own version and is read by that.
    pub fn decode(version: Version, buf: &[u8]) -> Result<Option<(Packet, usize)>, CodecError> {
        let Some(frame) = frame::scan(buf)? else {
            return Ok(None);
        };
        let packet = Packet::from_frame(version, &frame, &buf[frame.body.clone()])?;
        Ok(Some((packet, frame.total_len)))
    }

    /// The packet of a frame found by [`frame::scan`]; `body` is what its body range covers.
    pub fn from_frame(version: Version, frame: &Frame, body: &[u8]) -> Result<Packet, CodecError> {
        frame.check_flags(version)?;
        let kind = frame.kind;
        Ok(match kind {
            PacketKind::Connect => Packet::Connect(Connect::read(body)?),
            PacketKind::ConnAck => Packet::ConnAck(ConnAck::read(version, body)?),
            PacketKind::Publish => Packet::Publish(Publish::read(version, frame.flags, body)?),
            PacketKind::PubAck => Packet::PubAck(Ack::read(version, kind, body)?),
            PacketKind::PubRec => Packet::PubRec(Ack::read(version, kind, body)?),
            PacketKind::PubRel => Packet::PubRel(Ack::read(version, kind, body)?),
            PacketKind::PubComp => Packet::PubComp(Ack::read(version, kind, body)?),
            PacketKind::Subscribe => Packet::Subscribe(Subscribe::read(version, body)?),
            PacketKind::SubAck => Packet::SubAck(SubAck::read(version, body)?),
            PacketKind::Unsubscribe => Packet::Unsubscribe(Unsubscribe::read(version, body)?),
            PacketKind::UnsubAck => Packet::UnsubAck(UnsubAck::read(version, body)?),
            PacketKind::PingReq => empty(kind, body, Packet::PingReq)?,
            PacketKind::PingResp => empty(kind, body, Packet::PingResp)?,
            PacketKind::Disconnect => Packet::Disconnect(Disconnect::read(version, body)?),
            PacketKind::Auth => Packet::Auth(Auth::read(version, body)?),
        })
    }

    /// Appends the packet. On an error `out` is as it was before.
    pub fn encode(&self, version: Version, out: &mut Vec<u8>) -> Result<(), CodecError> {
        match self {
            Packet::Connect(p) => p.put(out),
            Packet::ConnAck(p) => p.put(version, out),
            Packet::Publish(p) => p.put(version, out),
            Packet::PubAck(p) => p.put(version, PacketKind::PubAck, out),
            Packet::PubRec(p) => p.put(version, PacketKind::PubRec, out),
            Packet::PubRel(p) => p.put(version, PacketKind::PubRel, out),
            Packet::PubComp(p) => p.put(version, PacketKind::PubComp, out),
            Packet::Subscribe(p) => p.put(version, out),
            Packet::SubAck(p) => p.put(version, out),
            Packet::Unsubscribe(p) => p.put(version, out),
            Packet::UnsubAck(p) => p.put(version, out),
            Packet::PingReq => frame::put(out, PacketKind::PingReq, |_| Ok(())),
            Packet::PingResp => frame::put(out, PacketKind::PingResp, |_| Ok(())),
            Packet::Disconnect(p) => p.put(version, out),
            Packet::Auth(p) => p.put(version, out),
        }
    }
}

fn empty(kind: PacketKind, body: &[u8], packet: Packet) -> Result<Packet, CodecError> {
    match body.len() {
        0 => Ok(packet),
        left => Err(CodecError::TrailingBytes { kind, left }),
    }
}
