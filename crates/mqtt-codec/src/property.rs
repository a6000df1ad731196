//! Properties of MQTT 5: one table with number, type and place of each.

use bytes::Bytes;

use crate::wire::{self, Reader};
use crate::{CodecError, topic};

/// The packet (or part of one) a list of properties stands in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place(u16);

impl Place {
    pub const CONNECT: Place = Place(1);
    pub const WILL: Place = Place(1 << 1);
    pub const CONNACK: Place = Place(1 << 2);
    pub const PUBLISH: Place = Place(1 << 3);
    /// PUBACK, PUBREC, PUBREL and PUBCOMP
    pub const ACK: Place = Place(1 << 4);
    pub const SUBSCRIBE: Place = Place(1 << 5);
    /// SUBACK and UNSUBACK
    pub const SUBACK: Place = Place(1 << 6);
    pub const UNSUBSCRIBE: Place = Place(1 << 7);
    pub const DISCONNECT: Place = Place(1 << 8);
    pub const AUTH: Place = Place(1 << 9);

    const fn or(self, other: Place) -> Place {
        Place(self.0 | other.0)
    }
}

/// A number on the wire as a variable byte integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VarInt(pub u32);

trait Wire: Sized {
    fn read(r: &mut Reader<'_>) -> Result<Self, CodecError>;
    fn write(&self, out: &mut Vec<u8>) -> Result<(), CodecError>;
}

impl Wire for u8 {
    fn read(r: &mut Reader<'_>) -> Result<Self, CodecError> {
        r.u8("property")
    }
    fn write(&self, out: &mut Vec<u8>) -> Result<(), CodecError> {
        out.push(*self);
        Ok(())
    }
}

impl Wire for u16 {
    fn read(r: &mut Reader<'_>) -> Result<Self, CodecError> {
        r.u16("property")
    }
    fn write(&self, out: &mut Vec<u8>) -> Result<(), CodecError> {
        out.extend_from_slice(&self.to_be_bytes());
        Ok(())
    }
}

impl Wire for u32 {
    fn read(r: &mut Reader<'_>) -> Result<Self, CodecError> {
        r.u32("property")
    }
    fn write(&self, out: &mut Vec<u8>) -> Result<(), CodecError> {
        out.extend_from_slice(&self.to_be_bytes());
        Ok(())
    }
}

impl Wire for VarInt {
    fn read(r: &mut Reader<'_>) -> Result<Self, CodecError> {
        r.varint("property").map(VarInt)
    }
    fn write(&self, out: &mut Vec<u8>) -> Result<(), CodecError> {
        wire::put_varint(out, self.0 as usize);
        Ok(())
    }
}

impl Wire for String {
    fn read(r: &mut Reader<'_>) -> Result<Self, CodecError> {
        r.text("property").map(str::to_owned)
    }
    fn write(&self, out: &mut Vec<u8>) -> Result<(), CodecError> {
        wire::put_text(out, self, "property")
    }
}

impl Wire for Bytes {
    fn read(r: &mut Reader<'_>) -> Result<Self, CodecError> {
        r.binary("property").map(Bytes::copy_from_slice)
    }
    fn write(&self, out: &mut Vec<u8>) -> Result<(), CodecError> {
        wire::put_binary(out, self, "property")
    }
}

impl Wire for (String, String) {
    fn read(r: &mut Reader<'_>) -> Result<Self, CodecError> {
        Ok((String::read(r)?, String::read(r)?))
    }
    fn write(&self, out: &mut Vec<u8>) -> Result<(), CodecError> {
        self.0.write(out)?;
        self.1.write(out)
    }
}

macro_rules! properties {
    ($($name:ident / $getter:ident = $id:literal, $ty:ty, $($place:ident)|+;)*) => {
        /// One property with its value.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub enum Property { $($name($ty)),* }

        impl Property {
            /// The number of the property on the wire.
            pub fn id(&self) -> u8 {
                match self { $(Property::$name(_) => $id),* }
            }

            fn places(&self) -> Place {
                match self { $(Property::$name(_) => Place(0)$(.or(Place::$place))+),* }
            }

            fn read(r: &mut Reader<'_>) -> Result<Property, CodecError> {
                match r.varint("property")? {
                    $($id => Ok(Property::$name(<$ty as Wire>::read(r)?)),)*
                    id => Err(CodecError::UnknownProperty { id }),
                }
            }

            /// Appends number and value as they stand on the wire.
            pub fn write(&self, out: &mut Vec<u8>) -> Result<(), CodecError> {
                out.push(self.id());
                match self { $(Property::$name(value) => Wire::write(value, out)),* }
            }
        }

        impl Properties {
            $(
                /// The first property of this kind.
                pub fn $getter(&self) -> Option<&$ty> {
                    self.0.iter().find_map(|p| match p {
                        Property::$name(value) => Some(value),
                        _ => None,
                    })
                }
            )*
        }
    };
}

properties! {
    PayloadFormatIndicator / payload_format = 0x01, u8, PUBLISH | WILL;
    MessageExpiryInterval / message_expiry = 0x02, u32, PUBLISH | WILL;
    ContentType / content_type = 0x03, String, PUBLISH | WILL;
    ResponseTopic / response_topic = 0x08, String, PUBLISH | WILL;
    CorrelationData / correlation_data = 0x09, Bytes, PUBLISH | WILL;
    SubscriptionIdentifier / subscription_id = 0x0B, VarInt, PUBLISH | SUBSCRIBE;
    SessionExpiryInterval / session_expiry = 0x11, u32, CONNECT | CONNACK | DISCONNECT;
    AssignedClientIdentifier / assigned_client_id = 0x12, String, CONNACK;
    ServerKeepAlive / server_keep_alive = 0x13, u16, CONNACK;
    AuthenticationMethod / authentication_method = 0x15, String, CONNECT | CONNACK | AUTH;
    AuthenticationData / authentication_data = 0x16, Bytes, CONNECT | CONNACK | AUTH;
    RequestProblemInformation / request_problem_information = 0x17, u8, CONNECT;
    WillDelayInterval / will_delay = 0x18, u32, WILL;
    RequestResponseInformation / request_response_information = 0x19, u8, CONNECT;
    ResponseInformation / response_information = 0x1A, String, CONNACK;
    ServerReference / server_reference = 0x1C, String, CONNACK | DISCONNECT;
    ReasonString / reason_string = 0x1F, String, CONNACK | ACK | SUBACK | DISCONNECT | AUTH;
    ReceiveMaximum / receive_maximum = 0x21, u16, CONNECT | CONNACK;
    TopicAliasMaximum / topic_alias_maximum = 0x22, u16, CONNECT | CONNACK;
    TopicAlias / topic_alias = 0x23, u16, PUBLISH;
    MaximumQos / maximum_qos = 0x24, u8, CONNACK;
    RetainAvailable / retain_available = 0x25, u8, CONNACK;
    UserProperty / user_property = 0x26, (String, String), CONNECT | WILL | CONNACK | PUBLISH | ACK
        | SUBSCRIBE | SUBACK | UNSUBSCRIBE | DISCONNECT | AUTH;
    MaximumPacketSize / maximum_packet_size = 0x27, u32, CONNECT | CONNACK;
    WildcardSubscriptionAvailable / wildcard_available = 0x28, u8, CONNACK;
    SubscriptionIdentifierAvailable / subscription_id_available = 0x29, u8, CONNACK;
    SharedSubscriptionAvailable / shared_available = 0x2A, u8, CONNACK;
}

impl Property {
    fn value_is_allowed(&self) -> bool {
        match self {
            Property::PayloadFormatIndicator(v)
            | Property::RequestProblemInformation(v)
            | Property::RequestResponseInformation(v)
            | Property::MaximumQos(v)
            | Property::RetainAvailable(v)
            | Property::WildcardSubscriptionAvailable(v)
            | Property::SubscriptionIdentifierAvailable(v)
            | Property::SharedSubscriptionAvailable(v) => *v <= 1,
            Property::ReceiveMaximum(v) | Property::TopicAlias(v) => *v != 0,
            Property::MaximumPacketSize(v) => *v != 0,
            Property::SubscriptionIdentifier(v) => v.0 != 0 && v.0 as usize <= wire::VARINT_MAX,
            Property::ResponseTopic(topic) => topic::valid_name(topic),
            _ => true,
        }
    }

    fn may_repeat(&self, place: Place) -> bool {
        match self {
            Property::UserProperty(_) => true,
            // a message carries one for each subscription it matched
            Property::SubscriptionIdentifier(_) => place == Place::PUBLISH,
            _ => false,
        }
    }
}

/// A list of properties, in the order of the wire. Empty before MQTT 5.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties(pub Vec<Property>);

impl Properties {
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub fn iter(&self) -> std::slice::Iter<'_, Property> {
        self.0.iter()
    }

    pub fn push(&mut self, property: Property) {
        self.0.push(property);
    }

    /// All user properties, in order; a name may come more than once.
    pub fn user_properties(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().filter_map(|p| match p {
            Property::UserProperty((name, value)) => Some((name.as_str(), value.as_str())),
            _ => None,
        })
    }

    /// Reads a property section without its length, checking place, value and repetition.
    pub fn decode(section: &[u8], place: Place) -> Result<Properties, CodecError> {
        let mut r = Reader::new(section);
        let mut list = Vec::new();
        let mut seen = 0u64;
        while r.left() > 0 {
            let property = Property::read(&mut r)?;
            check(&property, place, &mut seen)?;
            list.push(property);
        }
        Ok(Properties(list))
    }

    pub(crate) fn read(r: &mut Reader<'_>, place: Place) -> Result<Properties, CodecError> {
        let len = r.varint("property length")?;
        Self::decode(r.take(len as usize, "properties")?, place)
    }

    pub(crate) fn put(&self, out: &mut Vec<u8>, place: Place) -> Result<(), CodecError> {
        wire::put_sized(out, |out| {
            let mut seen = 0;
            for property in &self.0 {
                check(property, place, &mut seen)?;
                property.write(out)?;
            }
            Ok(())
        })
    }
}

impl FromIterator<Property> for Properties {
    fn from_iter<T: IntoIterator<Item = Property>>(iter: T) -> Self {
        Properties(iter.into_iter().collect())
    }
}

fn check(property: &Property, place: Place, seen: &mut u64) -> Result<(), CodecError> {
    let id = property.id();
    if property.places().0 & place.0 == 0 {
        return Err(CodecError::UnknownProperty { id: u32::from(id) });
    }
    if !property.value_is_allowed() {
        return Err(CodecError::BadPropertyValue { id });
    }
    let bit = 1 << id;
    if *seen & bit != 0 && !property.may_repeat(place) {
        return Err(CodecError::DuplicateProperty { id });
    }
    *seen |= bit;
    Ok(())
}
