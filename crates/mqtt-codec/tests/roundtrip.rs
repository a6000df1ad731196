//! Packets out and in again, and arbitrary bytes in: the codec is one with itself and never panics.

use bytes::Bytes;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use rekuiper_mqtt_codec::property::Place;
use rekuiper_mqtt_codec::*;

fn version() -> impl Strategy<Value = Version> {
    prop_oneof![Just(Version::V31), Just(Version::V311), Just(Version::V5)]
}

fn qos() -> impl Strategy<Value = QoS> {
    prop_oneof![
        Just(QoS::AtMostOnce),
        Just(QoS::AtLeastOnce),
        Just(QoS::ExactlyOnce)
    ]
}

fn text() -> impl Strategy<Value = String> {
    "[a-zäß☃/ 0-9]{0,200}"
}

fn topic() -> impl Strategy<Value = String> {
    "[a-zä☃/$]{1,40}"
}

fn filter() -> impl Strategy<Value = String> {
    prop_oneof![
        topic(),
        topic().prop_map(|t| format!("{t}/+/x/#")),
        Just("$share/g/#".to_owned())
    ]
}

fn binary(max: usize) -> impl Strategy<Value = Bytes> {
    vec(any::<u8>(), 0..max).prop_map(Bytes::from)
}

fn id() -> impl Strategy<Value = u16> {
    1..=u16::MAX
}

fn any_property() -> impl Strategy<Value = Property> {
    use Property::*;
    let numbers = prop_oneof![
        (0..=1u8).prop_map(PayloadFormatIndicator),
        any::<u32>().prop_map(MessageExpiryInterval),
        (1..268_435_455u32).prop_map(|v| SubscriptionIdentifier(VarInt(v))),
        any::<u32>().prop_map(SessionExpiryInterval),
        any::<u16>().prop_map(ServerKeepAlive),
        (0..=1u8).prop_map(RequestProblemInformation),
        any::<u32>().prop_map(WillDelayInterval),
        (0..=1u8).prop_map(RequestResponseInformation),
        id().prop_map(ReceiveMaximum),
        any::<u16>().prop_map(TopicAliasMaximum),
        id().prop_map(TopicAlias),
        (0..=1u8).prop_map(MaximumQos),
        (0..=1u8).prop_map(RetainAvailable),
        (1..=u32::MAX).prop_map(MaximumPacketSize),
    ];
    let more = prop_oneof![
        (0..=1u8).prop_map(WildcardSubscriptionAvailable),
        (0..=1u8).prop_map(SubscriptionIdentifierAvailable),
        (0..=1u8).prop_map(SharedSubscriptionAvailable),
        text().prop_map(ContentType),
        topic().prop_map(ResponseTopic),
        binary(300).prop_map(CorrelationData),
        text().prop_map(AssignedClientIdentifier),
        text().prop_map(AuthenticationMethod),
        binary(300).prop_map(AuthenticationData),
        text().prop_map(ResponseInformation),
        text().prop_map(ServerReference),
        text().prop_map(ReasonString),
        (text(), text()).prop_map(UserProperty),
    ];
    prop_oneof![numbers, more]
}

/// Properties that may stand at `place`: each candidate is asked for by trying it alone, then
/// the list is thinned until it decodes.
fn properties(place: Place, version: Version) -> BoxedStrategy<Properties> {
    if version != Version::V5 {
        return Just(Properties::default()).boxed();
    }
    vec(any_property(), 0..12)
        .prop_map(move |candidates| {
            let mut kept = Properties::default();
            for candidate in candidates {
                let mut bytes = Vec::new();
                for property in kept.iter().chain([&candidate]) {
                    property.write(&mut bytes).expect("short");
                }
                if Properties::decode(&bytes, place).is_ok() {
                    kept.push(candidate);
                }
            }
            kept
        })
        .boxed()
}

fn reason(kind: PacketKind, version: Version) -> BoxedStrategy<ReasonCode> {
    let all: Vec<_> = (0..=255)
        .map(ReasonCode)
        .filter(|reason| reason.fits(kind))
        .collect();
    match (version, kind) {
        (Version::V5, _) => proptest::sample::select(all).boxed(),
        (_, PacketKind::ConnAck) => (0..=5u8)
            .prop_map(|c| ReasonCode::from_v3_connect(c).expect("known"))
            .boxed(),
        (_, PacketKind::SubAck) => proptest::sample::select(vec![0, 1, 2, 0x80u8])
            .prop_map(ReasonCode)
            .boxed(),
        _ => Just(ReasonCode::SUCCESS).boxed(),
    }
}

fn connect(v: Version) -> BoxedStrategy<Packet> {
    let will = (
        topic(),
        binary(300),
        qos(),
        any::<bool>(),
        properties(Place::WILL, v),
    )
        .prop_map(|(topic, payload, qos, retain, properties)| Will {
            topic,
            payload,
            qos,
            retain,
            properties,
        });
    let login = option::of((text(), option::of(binary(100))));
    let head = (text(), any::<bool>(), any::<u16>());
    (head, login, option::of(will), properties(Place::CONNECT, v))
        .prop_map(
            move |((client_id, clean, keep_alive_s), login, will, properties)| {
                let (user_name, password) = match login {
                    Some((user, password)) => (Some(user), password),
                    None => (None, None),
                };
                Packet::Connect(Connect {
                    version: v,
                    client_id,
                    clean,
                    keep_alive_s,
                    user_name,
                    password,
                    will,
                    properties,
                })
            },
        )
        .boxed()
}

fn publish(v: Version) -> BoxedStrategy<Packet> {
    let flags = (qos(), any::<bool>(), any::<bool>(), id());
    (
        topic(),
        flags,
        properties(Place::PUBLISH, v),
        binary(20_000),
    )
        .prop_map(|(topic, (qos, dup, retain, id), properties, payload)| {
            let at_least_once = qos != QoS::AtMostOnce;
            Packet::Publish(Publish {
                topic,
                packet_id: at_least_once.then_some(id),
                qos,
                dup: dup && at_least_once,
                retain,
                properties,
                payload,
            })
        })
        .boxed()
}

fn ack(v: Version, kind: PacketKind, wrap: fn(Ack) -> Packet) -> BoxedStrategy<Packet> {
    (id(), reason(kind, v), properties(Place::ACK, v))
        .prop_map(move |(packet_id, reason, properties)| {
            wrap(Ack {
                packet_id,
                reason,
                properties,
            })
        })
        .boxed()
}

fn subscribe(v: Version) -> BoxedStrategy<Packet> {
    let options = (any::<bool>(), any::<bool>(), 0..3u8);
    let one = (filter(), qos(), options).prop_map(move |(filter, qos, (local, rap, handling))| {
        if v != Version::V5 {
            return SubscribeFilter::new(filter, qos);
        }
        let retain_handling = match handling {
            0 => RetainHandling::Send,
            1 => RetainHandling::SendIfNew,
            _ => RetainHandling::DoNotSend,
        };
        SubscribeFilter {
            filter,
            qos,
            no_local: local,
            retain_as_published: rap,
            retain_handling,
        }
    });
    (id(), properties(Place::SUBSCRIBE, v), vec(one, 1..5))
        .prop_map(|(packet_id, properties, filters)| {
            Packet::Subscribe(Subscribe {
                packet_id,
                properties,
                filters,
            })
        })
        .boxed()
}

fn packet(v: Version) -> BoxedStrategy<Packet> {
    let connack = (
        any::<bool>(),
        reason(PacketKind::ConnAck, v),
        properties(Place::CONNACK, v),
    )
        .prop_map(|(session_present, reason, properties)| {
            Packet::ConnAck(ConnAck {
                session_present,
                reason,
                properties,
            })
        });
    let suback = (
        id(),
        properties(Place::SUBACK, v),
        vec(reason(PacketKind::SubAck, v), 1..6),
    )
        .prop_map(|(packet_id, properties, reasons)| {
            Packet::SubAck(SubAck {
                packet_id,
                properties,
                reasons,
            })
        });
    let unsubscribe = (id(), properties(Place::UNSUBSCRIBE, v), vec(filter(), 1..5)).prop_map(
        |(packet_id, properties, filters)| {
            Packet::Unsubscribe(Unsubscribe {
                packet_id,
                properties,
                filters,
            })
        },
    );
    let unsuback = (
        id(),
        properties(Place::SUBACK, v),
        vec(reason(PacketKind::UnsubAck, v), 1..6),
    )
        .prop_map(move |(packet_id, properties, mut reasons)| {
            if v != Version::V5 {
                reasons.clear();
            }
            Packet::UnsubAck(UnsubAck {
                packet_id,
                properties,
                reasons,
            })
        });
    let disconnect = (
        reason(PacketKind::Disconnect, v),
        properties(Place::DISCONNECT, v),
    )
        .prop_map(|(reason, properties)| Packet::Disconnect(Disconnect { reason, properties }));
    let auth = (reason(PacketKind::Auth, v), properties(Place::AUTH, v)).prop_map(
        move |(reason, properties)| match v {
            Version::V5 => Packet::Auth(Auth { reason, properties }),
            _ => Packet::PingReq,
        },
    );
    prop_oneof![
        connect(v),
        connack,
        publish(v),
        ack(v, PacketKind::PubAck, Packet::PubAck),
        ack(v, PacketKind::PubRec, Packet::PubRec),
        ack(v, PacketKind::PubRel, Packet::PubRel),
        ack(v, PacketKind::PubComp, Packet::PubComp),
        subscribe(v),
        suback,
        unsubscribe,
        unsuback,
        Just(Packet::PingReq),
        Just(Packet::PingResp),
        disconnect,
        auth,
    ]
    .boxed()
}

fn versioned_packet() -> impl Strategy<Value = (Version, Packet)> {
    version().prop_flat_map(|v| (Just(v), packet(v)))
}

/// Reads everything there is in `bytes`, by both levels of the codec.
fn read_all(version: Version, bytes: &[u8]) {
    let mut at = 0;
    while let Ok(Some(frame)) = frame::scan(&bytes[at..]) {
        let body = &bytes[at..][frame.body.clone()];
        let _ = Packet::from_frame(version, &frame, body);
        if let Ok(view) = publish::view(version, frame.flags, body) {
            assert!(view.topic.end <= view.properties.start);
            assert!(view.properties.end <= view.payload.start);
            assert_eq!(view.payload.end, body.len());
            std::str::from_utf8(&body[view.topic]).expect("checked by view");
        }
        at += frame.total_len;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn encode_then_decode_is_identity((version, packet) in versioned_packet()) {
        let mut bytes = vec![0xAA];
        packet.encode(version, &mut bytes).expect("a good packet");
        let (decoded, used) = Packet::decode(version, &bytes[1..])
            .expect("what we write we read")
            .expect("complete");
        prop_assert_eq!(used, bytes.len() - 1);
        prop_assert_eq!(decoded, packet);
        // any shorter prefix asks for more
        let cut = bytes.len() - 1;
        prop_assert_eq!(Packet::decode(version, &bytes[1..cut]), Ok(None));
    }

    #[test]
    fn random_bytes_do_not_panic(version in version(), bytes in vec(any::<u8>(), 0..400)) {
        read_all(version, &bytes);
    }

    #[test]
    fn random_bodies_do_not_panic(
        version in version(),
        first in any::<u8>(),
        body in vec(any::<u8>(), 0..127),
    ) {
        let mut bytes = vec![first, body.len() as u8];
        bytes.extend_from_slice(&body);
        read_all(version, &bytes);
    }

    #[test]
    fn damaged_packets_do_not_panic(
        (version, packet) in versioned_packet(),
        other in version(),
        damage in vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = Vec::new();
        packet.encode(version, &mut bytes).expect("a good packet");
        for (at, byte) in damage {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        read_all(other, &bytes);
        let body = &bytes[cut.index(bytes.len())..];
        let mut framed = vec![bytes[0], 0x80 | (body.len() & 0x7F) as u8];
        framed.extend([0x80 | (body.len() >> 7 & 0x7F) as u8, (body.len() >> 14) as u8]);
        framed.extend_from_slice(body);
        read_all(version, &framed);
    }
}
