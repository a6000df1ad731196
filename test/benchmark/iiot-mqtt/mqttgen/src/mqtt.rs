//! The few MQTT packets a benchmark needs, for 3.1.1 (level 4) and 5 (level 5).

use std::io::{self, Read};

pub const CONNECT: u8 = 1;
pub const CONNACK: u8 = 2;
pub const PUBLISH: u8 = 3;
pub const SUBSCRIBE: u8 = 8;
pub const SUBACK: u8 = 9;
pub const UNSUBSCRIBE: u8 = 10;
pub const PINGREQ: u8 = 12;
pub const DISCONNECT: u8 = 14;

pub const PINGRESP_BYTES: [u8; 2] = [0xd0, 0x00];

/// Packets other than our own PUBLISH are small; a longer one is a protocol error here.
const PACKET_BYTES_MAX: usize = 1 << 20;

/// A packet as it came: type, flags and body.
pub struct Packet {
    pub kind: u8,
    pub flags: u8,
    pub body: Vec<u8>,
}

fn bad(text: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, text.into())
}

/// Reads one packet; `None` when the other side closed between packets.
pub fn read_packet(from: &mut impl Read) -> io::Result<Option<Packet>> {
    let mut byte = [0u8; 1];
    if from.read(&mut byte)? == 0 {
        return Ok(None);
    }
    let first = byte[0];
    let (mut length, mut shift) = (0usize, 0);
    loop {
        from.read_exact(&mut byte)?;
        length |= usize::from(byte[0] & 0x7f) << shift;
        if byte[0] & 0x80 == 0 {
            break;
        }
        shift += 7;
        if shift > 21 {
            return Err(bad("remaining length has more than four bytes"));
        }
    }
    if length > PACKET_BYTES_MAX {
        return Err(bad(format!(
            "packet of {length} bytes, expected at most {PACKET_BYTES_MAX}"
        )));
    }
    let mut body = vec![0u8; length];
    from.read_exact(&mut body)?;
    Ok(Some(Packet {
        kind: first >> 4,
        flags: first & 15,
        body,
    }))
}

/// Appends a remaining length.
pub fn push_length(to: &mut Vec<u8>, mut length: usize) {
    loop {
        let byte = (length & 0x7f) as u8;
        length >>= 7;
        if length == 0 {
            to.push(byte);
            return;
        }
        to.push(byte | 0x80);
    }
}

fn push_text(to: &mut Vec<u8>, text: &str) {
    to.extend_from_slice(&(text.len() as u16).to_be_bytes());
    to.extend_from_slice(text.as_bytes());
}

fn packet(first: u8, body: &[u8]) -> Vec<u8> {
    let mut out = vec![first];
    push_length(&mut out, body.len());
    out.extend_from_slice(body);
    out
}

/// CONNECT with a clean session and no keep-alive.
pub fn connect(level: u8, client_id: &str) -> Vec<u8> {
    let mut body = Vec::new();
    push_text(&mut body, "MQTT");
    body.extend_from_slice(&[level, 0x02, 0, 0]);
    if level == 5 {
        body.push(0);
    }
    push_text(&mut body, client_id);
    packet(0x10, &body)
}

pub fn connack(level: u8) -> Vec<u8> {
    if level == 5 {
        vec![0x20, 3, 0, 0, 0]
    } else {
        vec![0x20, 2, 0, 0]
    }
}

pub fn subscribe(level: u8, packet_id: u16, filter: &str) -> Vec<u8> {
    let mut body = packet_id.to_be_bytes().to_vec();
    if level == 5 {
        body.push(0);
    }
    push_text(&mut body, filter);
    body.push(0);
    packet(0x82, &body)
}

/// Appends a QoS 0 PUBLISH; returns where the payload starts in `to`.
pub fn push_publish(to: &mut Vec<u8>, level: u8, topic: &str, payload: &[u8]) -> usize {
    let properties = usize::from(level == 5);
    to.push(0x30);
    push_length(to, 2 + topic.len() + properties + payload.len());
    push_text(to, topic);
    if level == 5 {
        to.push(0);
    }
    let at = to.len();
    to.extend_from_slice(payload);
    at
}

/// The protocol level of a CONNECT body.
pub fn connect_level(body: &[u8]) -> io::Result<u8> {
    let name = body
        .first_chunk::<2>()
        .map_or(0, |b| usize::from(u16::from_be_bytes(*b)));
    match body.get(2 + name) {
        Some(level @ 3..=5) => Ok(*level),
        Some(level) => Err(bad(format!(
            "CONNECT with protocol level {level}, expected 3, 4 or 5"
        ))),
        None => Err(bad("CONNECT is too short")),
    }
}

/// The filters of a SUBSCRIBE (`options` true) or UNSUBSCRIBE body, and its packet id.
pub fn filters(level: u8, body: &[u8], options: bool) -> io::Result<([u8; 2], Vec<String>)> {
    let short = || bad("SUBSCRIBE or UNSUBSCRIBE is too short");
    let id = *body.first_chunk::<2>().ok_or_else(short)?;
    let mut at = 2;
    if level == 5 {
        let mut shift = 0;
        let mut length = 0usize;
        loop {
            let byte = *body.get(at).ok_or_else(short)?;
            at += 1;
            length |= usize::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 || shift > 21 {
                break;
            }
        }
        at += length;
    }
    let mut list = Vec::new();
    while at < body.len() {
        let size = body.get(at..at + 2).ok_or_else(short)?;
        let size = usize::from(u16::from_be_bytes([size[0], size[1]]));
        let text = body.get(at + 2..at + 2 + size).ok_or_else(short)?;
        list.push(String::from_utf8_lossy(text).into_owned());
        at += 2 + size + usize::from(options);
    }
    Ok((id, list))
}

/// SUBACK granting QoS 0 for `count` filters.
pub fn suback(level: u8, id: [u8; 2], count: usize) -> Vec<u8> {
    acknowledge(0x90, level, id, count)
}

/// UNSUBACK; 3.1.1 has no reason codes in it.
pub fn unsuback(level: u8, id: [u8; 2], count: usize) -> Vec<u8> {
    acknowledge(0xb0, level, id, if level == 5 { count } else { 0 })
}

fn acknowledge(first: u8, level: u8, id: [u8; 2], count: usize) -> Vec<u8> {
    let mut body = id.to_vec();
    if level == 5 {
        body.push(0);
    }
    body.resize(body.len() + count, 0);
    packet(first, &body)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_reads_back() {
        for level in [4, 5] {
            let mut bytes = connect(level, "me");
            bytes.extend(subscribe(level, 7, "a/+/b"));
            push_publish(&mut bytes, level, "a/b", &[b'x'; 300]);
            let mut from = bytes.as_slice();
            let first = read_packet(&mut from).unwrap().unwrap();
            assert_eq!(
                (first.kind, connect_level(&first.body).unwrap()),
                (CONNECT, level)
            );
            let second = read_packet(&mut from).unwrap().unwrap();
            assert_eq!(second.kind, SUBSCRIBE);
            let (id, list) = filters(level, &second.body, true).unwrap();
            assert_eq!((id, list), ([0, 7], vec!["a/+/b".to_string()]));
            let third = read_packet(&mut from).unwrap().unwrap();
            assert_eq!(
                (third.kind, third.body.len()),
                (PUBLISH, 5 + 300 + (level as usize - 4))
            );
            assert!(read_packet(&mut from).unwrap().is_none());
        }
    }

    #[test]
    fn torn_and_oversized_packets_are_errors() {
        assert!(read_packet(&mut [0x30u8, 5, 1].as_slice()).is_err());
        assert!(read_packet(&mut [0x30u8, 0xff, 0xff, 0xff, 0xff, 1].as_slice()).is_err());
        assert!(read_packet(&mut [0x30u8, 0xff, 0xff, 0xff, 0x7f].as_slice()).is_err());
        assert!(filters(4, &[0, 1, 0, 9, b'a'], true).is_err());
        assert!(connect_level(&[0, 4, b'M']).is_err());
    }
}
