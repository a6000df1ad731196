//! CONNECT: who is there, and under which terms.

use bytes::Bytes;

use crate::property::Place;
use crate::wire::{self, Reader};
use crate::{CodecError, PacketKind, Properties, QoS, Version, frame, topic};

/// The message the server publishes when this client vanishes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Will {
    pub topic: String,
    pub payload: Bytes,
    pub qos: QoS,
    pub retain: bool,
    pub properties: Properties,
}

/// The first packet of a connection; it carries its own version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Connect {
    pub version: Version,
    pub client_id: String,
    /// Clean session before MQTT 5, clean start in it
    pub clean: bool,
    pub keep_alive_s: u16,
    pub user_name: Option<String>,
    pub password: Option<Bytes>,
    pub will: Option<Will>,
    pub properties: Properties,
}

const CLEAN: u8 = 0b0000_0010;
const WILL: u8 = 0b0000_0100;
const WILL_QOS: u8 = 0b0001_1000;
const WILL_RETAIN: u8 = 0b0010_0000;
const PASSWORD: u8 = 0b0100_0000;
const USER_NAME: u8 = 0b1000_0000;

impl Connect {
    /// A CONNECT with nothing but a name: clean, keep-alive of a minute.
    pub fn new(version: Version, client_id: impl Into<String>) -> Connect {
        Connect {
            version,
            client_id: client_id.into(),
            clean: true,
            keep_alive_s: 60,
            user_name: None,
            password: None,
            will: None,
            properties: Properties::default(),
        }
    }

    pub(crate) fn read(body: &[u8]) -> Result<Self, CodecError> {
        let mut r = Reader::new(body);
        let name = r.binary("protocol name")?;
        let level = r.u8("protocol level")?;
        let version = Version::from_name_and_level(name, level)?;
        let flags = r.u8("connect flags")?;
        check_flags(version, flags)?;
        let keep_alive_s = r.u16("keep alive")?;
        let properties = read_properties(&mut r, version, Place::CONNECT)?;
        let client_id = r.text("client identifier")?.to_owned();
        let will = if flags & WILL != 0 {
            Some(read_will(&mut r, version, flags)?)
        } else {
            None
        };
        let user_name = match flags & USER_NAME {
            0 => None,
            _ => Some(r.text("user name")?.to_owned()),
        };
        let password = match flags & PASSWORD {
            0 => None,
            _ => Some(Bytes::copy_from_slice(r.binary("password")?)),
        };
        r.end(PacketKind::Connect)?;
        let clean = flags & CLEAN != 0;
        Ok(Connect {
            version,
            client_id,
            clean,
            keep_alive_s,
            user_name,
            password,
            will,
            properties,
        })
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>) -> Result<(), CodecError> {
        let flags = self.flags();
        check_flags(self.version, flags)?;
        frame::put(out, PacketKind::Connect, |out| {
            let (name, level) = self.version.name_and_level();
            wire::put_text(out, name, "protocol name")?;
            out.push(level);
            out.push(flags);
            out.extend_from_slice(&self.keep_alive_s.to_be_bytes());
            put_properties(&self.properties, out, self.version, Place::CONNECT)?;
            wire::put_text(out, &self.client_id, "client identifier")?;
            if let Some(will) = &self.will {
                if !topic::valid_name(&will.topic) {
                    return Err(CodecError::BadTopicName);
                }
                put_properties(&will.properties, out, self.version, Place::WILL)?;
                wire::put_text(out, &will.topic, "will topic")?;
                wire::put_binary(out, &will.payload, "will payload")?;
            }
            if let Some(user_name) = &self.user_name {
                wire::put_text(out, user_name, "user name")?;
            }
            if let Some(password) = &self.password {
                wire::put_binary(out, password, "password")?;
            }
            Ok(())
        })
    }

    fn flags(&self) -> u8 {
        let mut flags = if self.clean { CLEAN } else { 0 };
        if let Some(will) = &self.will {
            flags |= WILL | (will.qos as u8) << 3;
            flags |= if will.retain { WILL_RETAIN } else { 0 };
        }
        flags |= if self.user_name.is_some() {
            USER_NAME
        } else {
            0
        };
        flags | if self.password.is_some() { PASSWORD } else { 0 }
    }
}

fn check_flags(version: Version, flags: u8) -> Result<(), CodecError> {
    // 3.1 never said that the lowest bit must be 0
    let reserved = flags & 1 != 0 && version != Version::V31;
    let will_parts = flags & WILL == 0 && flags & (WILL_QOS | WILL_RETAIN) != 0;
    let password_alone =
        flags & PASSWORD != 0 && flags & USER_NAME == 0 && version == Version::V311;
    if reserved || will_parts || password_alone {
        return Err(CodecError::BadConnectFlags { flags });
    }
    Ok(())
}

fn read_will(r: &mut Reader<'_>, version: Version, flags: u8) -> Result<Will, CodecError> {
    let qos = QoS::from_bits((flags & WILL_QOS) >> 3)?;
    let properties = read_properties(r, version, Place::WILL)?;
    let name = r.text("will topic")?;
    if !topic::valid_name(name) {
        return Err(CodecError::BadTopicName);
    }
    let payload = Bytes::copy_from_slice(r.binary("will payload")?);
    let retain = flags & WILL_RETAIN != 0;
    Ok(Will {
        topic: name.to_owned(),
        payload,
        qos,
        retain,
        properties,
    })
}

pub(crate) fn read_properties(
    r: &mut Reader<'_>,
    version: Version,
    place: Place,
) -> Result<Properties, CodecError> {
    if version.is_v5() {
        Properties::read(r, place)
    } else {
        Ok(Properties::default())
    }
}

pub(crate) fn put_properties(
    properties: &Properties,
    out: &mut Vec<u8>,
    version: Version,
    place: Place,
) -> Result<(), CodecError> {
    if version.is_v5() {
        properties.put(out, place)
    } else {
        Ok(())
    }
}
