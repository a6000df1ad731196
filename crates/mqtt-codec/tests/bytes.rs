//! Bytes as the specifications print them, and bytes they forbid.

use rekuiper_mqtt_codec::publish::{PublishParts, PublishView};
use rekuiper_mqtt_codec::*;

fn decode(version: Version, bytes: &[u8]) -> Result<Packet, CodecError> {
    Packet::decode(version, bytes).map(|found| found.expect("complete").0)
}

#[test]
fn connect_3_1_1() {
    let bytes = b"\x10\x11\x00\x04MQTT\x04\x02\x00\x3c\x00\x05dev-1";
    let Ok(Packet::Connect(connect)) = decode(Version::V5, bytes) else {
        panic!("CONNECT")
    };
    assert_eq!(connect, Connect::new(Version::V311, "dev-1"));
    let mut out = Vec::new();
    Packet::Connect(connect)
        .encode(Version::V311, &mut out)
        .expect("valid");
    assert_eq!(out, bytes);
}

#[test]
fn connect_3_1() {
    let bytes = b"\x10\x10\x00\x06MQIsdp\x03\x02\x00\x0a\x00\x02ab";
    let Ok(Packet::Connect(connect)) = decode(Version::V5, bytes) else {
        panic!("CONNECT")
    };
    assert_eq!((connect.version, connect.keep_alive_s), (Version::V31, 10));
}

#[test]
fn connect_5_with_properties() {
    let bytes = b"\x10\x15\x00\x04MQTT\x05\x02\x00\x3c\x08\x11\x00\x00\x00\x0a\x21\x00\x14\x00\x00";
    let Ok(Packet::Connect(connect)) = decode(Version::V5, bytes) else {
        panic!("CONNECT")
    };
    assert_eq!(connect.properties.session_expiry(), Some(&10));
    assert_eq!(connect.properties.receive_maximum(), Some(&20));
}

#[test]
fn publish_view_gives_ranges() {
    let body = b"\x00\x03a/b\x00\x0ahello";
    assert_eq!(
        publish::view(Version::V311, 0b1011, body),
        Ok(PublishView {
            topic: 2..5,
            packet_id: Some(10),
            qos: QoS::AtLeastOnce,
            dup: true,
            retain: true,
            properties: 7..7,
            payload: 7..12,
        })
    );
    let v5 = b"\x00\x01t\x02\x01\x01x";
    let view = publish::view(Version::V5, 0, v5).expect("valid");
    assert_eq!((view.properties, view.payload), (4..6, 6..7));
}

#[test]
fn publish_view_refuses() {
    use CodecError::*;
    for (version, flags, body, expected) in [
        (Version::V311, 0b0110, &b"\0\x01a"[..], BadQos),
        (Version::V311, 0b1000, b"\0\x01a", DupAtQos0),
        (Version::V311, 0, b"", Truncated { what: "topic name" }),
        (
            Version::V311,
            0,
            b"\0\x02a",
            Truncated { what: "topic name" },
        ),
        (Version::V311, 0, b"\0\0", BadTopicName),
        (Version::V5, 0, b"\0\0\0", BadTopicName),
        (Version::V311, 0, b"\0\x01+", BadTopicName),
        (Version::V311, 0, b"\0\x02a\0", BadTopicName),
        (
            Version::V311,
            0,
            b"\0\x01\xff",
            BadText { what: "topic name" },
        ),
        (
            Version::V311,
            2,
            b"\0\x01a\0",
            Truncated {
                what: "packet identifier",
            },
        ),
        (Version::V311, 2, b"\0\x01a\0\0", ZeroPacketId),
        (Version::V5, 0, b"\0\x01a", Truncated { what: "properties" }),
        (
            Version::V5,
            0,
            b"\0\x01a\x05x",
            Truncated { what: "properties" },
        ),
        (Version::V5, 0, b"\0\x01a\xff\xff\xff\xff\xff", BadLength),
    ] {
        assert_eq!(
            publish::view(version, flags, body),
            Err(expected),
            "{body:?}"
        );
    }
}

#[test]
fn publish_write_matches_encoded_len() {
    for (version, len) in [
        (Version::V311, 130),
        (Version::V5, 200),
        (Version::V5, 20_000),
    ] {
        let payload = vec![1; len];
        let parts = PublishParts {
            topic: b"a/b",
            packet_id: Some(1),
            qos: QoS::ExactlyOnce,
            dup: false,
            retain: true,
            properties: [b"\x01\x01", b"\x02\0\0\0\x09"],
            payload: &payload,
        };
        let mut out = Vec::new();
        publish::write(&mut out, version, &parts).expect("fits");
        assert_eq!(out.len(), parts.encoded_len(version));
        let Ok(Packet::Publish(read)) = decode(version, &out) else {
            panic!("PUBLISH")
        };
        assert_eq!(read.payload, payload);
        assert_eq!(
            read.properties.message_expiry().is_some(),
            version == Version::V5
        );
    }
}

#[test]
fn forbidden_bytes_have_a_reason() {
    for (version, bytes, reason) in [
        // SUBSCRIBE without its mandatory flag, without a filter, with QoS 3
        (
            Version::V311,
            &b"\x80\x06\0\x01\0\x01a\0"[..],
            ReasonCode::MALFORMED_PACKET,
        ),
        (Version::V311, b"\x82\x02\0\x01", ReasonCode::PROTOCOL_ERROR),
        (
            Version::V311,
            b"\x82\x06\0\x01\0\x01a\x03",
            ReasonCode::MALFORMED_PACKET,
        ),
        (
            Version::V5,
            b"\x82\x07\0\x01\0\0\x01a\x30",
            ReasonCode::MALFORMED_PACKET,
        ),
        // receive maximum 0, and twice
        (
            Version::V5,
            b"\x20\x06\0\0\x03\x21\0\0",
            ReasonCode::PROTOCOL_ERROR,
        ),
        (
            Version::V5,
            b"\x20\x09\0\0\x06\x21\0\x01\x21\0\x01",
            ReasonCode::PROTOCOL_ERROR,
        ),
        // topic alias 0
        (
            Version::V5,
            b"\x30\x07\0\x01a\x03\x23\0\0",
            ReasonCode::TOPIC_ALIAS_INVALID,
        ),
        // a property of another packet
        (
            Version::V5,
            b"\xe0\x05\0\x03\x23\0\x01",
            ReasonCode::MALFORMED_PACKET,
        ),
        // unknown version, will flags without will, AUTH before MQTT 5, PINGREQ with a body
        (
            Version::V5,
            b"\x10\x0c\0\x04MQTT\x06\x02\0\0\0\0",
            ReasonCode::UNSUPPORTED_PROTOCOL_VERSION,
        ),
        (
            Version::V5,
            b"\x10\x0c\0\x04MQTT\x04\x0a\0\0\0\0",
            ReasonCode::MALFORMED_PACKET,
        ),
        (Version::V311, b"\xf0\0", ReasonCode::PROTOCOL_ERROR),
        (Version::V311, b"\xc0\x01a", ReasonCode::MALFORMED_PACKET),
    ] {
        let error = decode(version, bytes).expect_err("forbidden");
        assert_eq!(error.reason(), reason, "{bytes:?}: {error}");
    }
}

#[test]
fn a_failed_encode_leaves_the_buffer_alone() {
    let mut out = vec![1, 2, 3];
    let packet = Packet::Connect(Connect::new(Version::V5, "x".repeat(65_536)));
    assert!(packet.encode(Version::V5, &mut out).is_err());
    let publish = Publish {
        topic: "a/#".into(),
        ..Publish::default()
    };
    assert_eq!(
        Packet::Publish(publish).encode(Version::V311, &mut out),
        Err(CodecError::BadTopicName)
    );
    assert_eq!(out, [1, 2, 3]);
}
