//! Connections and what outlives them: resume, takeover, wills, keep-alive, limits, bad bytes.

#![allow(dead_code)]
mod common;

use common::*;
use rekuiper_broker::{BrokerConfig, Limits, User};
use rekuiper_mqtt_codec::*;

#[tokio::test]
async fn a_session_resumes_with_what_was_queued() {
    let broker = broker().await;
    for version in BOTH {
        let (mut client, present) = Client::resume(&broker, version, "stay").await;
        assert!(!present);
        client.subscribe("q/#", QoS::AtLeastOnce).await;
        client.disconnect().await;
        until("away", || broker.stats().connections_now == 0).await;
        let mut publisher = Client::connect(&broker, Version::V311, "pub").await;
        publisher.publish("q/0", "not kept", QoS::AtMostOnce).await;
        for i in 1..=3 {
            publisher
                .publish(&format!("q/{i}"), "kept", QoS::AtLeastOnce)
                .await;
        }
        let (mut client, present) = Client::resume(&broker, version, "stay").await;
        assert!(present);
        for i in 1..=3 {
            let got = client.message().await;
            assert_eq!((got.topic, got.dup), (format!("q/{i}"), false));
        }
        // nothing was acknowledged: all comes again, marked
        drop(client);
        let (mut client, _) = Client::resume(&broker, version, "stay").await;
        for i in 1..=3 {
            let got = client.message().await;
            assert_eq!((got.topic, got.dup), (format!("q/{i}"), true));
            client.send(Packet::PubAck(ack(got.packet_id))).await;
        }
        client.ping().await;
        client.disconnect().await;
        let (mut client, _) = Client::resume(&broker, version, "stay").await;
        client.ping().await;
        // a clean start forgets
        client.disconnect().await;
        Client::connect(&broker, version, "stay")
            .await
            .disconnect()
            .await;
        publisher.disconnect().await;
        until("gone", || broker.stats().sessions_now == 0).await;
        assert_eq!(broker.stats().subscriptions_now, 0);
    }
}

#[tokio::test]
async fn qos2_goes_on_where_it_stopped() {
    let broker = broker().await;
    let (mut client, _) = Client::resume(&broker, Version::V5, "stay").await;
    client.subscribe("t", QoS::ExactlyOnce).await;
    let mut publisher = Client::connect(&broker, Version::V5, "pub").await;
    publisher.publish("t", "x", QoS::ExactlyOnce).await;
    let got = client.message().await;
    client.send(Packet::PubRec(ack(got.packet_id))).await;
    assert!(matches!(client.recv().await, Packet::PubRel(_)));
    drop(client);
    let (mut client, present) = Client::resume(&broker, Version::V5, "stay").await;
    assert!(present);
    let rel = client.recv().await;
    assert_eq!(
        rel,
        Packet::PubRel(ack(got.packet_id)),
        "not the message again"
    );
    client.send(Packet::PubComp(ack(got.packet_id))).await;
    client.ping().await;
}

#[tokio::test]
async fn sessions_expire() {
    let broker = broker().await;
    let mut connect = Connect {
        clean: false,
        ..Connect::new(Version::V5, "brief")
    };
    connect.properties.push(Property::SessionExpiryInterval(1));
    let (mut client, _) = Client::connect_as(&broker, connect.clone()).await;
    client.subscribe("t", QoS::AtLeastOnce).await;
    client.disconnect().await;
    until("away", || broker.stats().connections_now == 0).await;
    assert_eq!(broker.stats().sessions_now, 1);
    until("expired", || broker.stats().sessions_now == 0).await;
    let (_, answer) = Client::connect_as(&broker, connect).await;
    assert!(!answer.session_present);
}

#[tokio::test]
async fn the_newcomer_takes_over() {
    let broker = broker().await;
    for version in BOTH {
        let old = Client::connect(&broker, version, "same").await;
        let mut new = Client::connect(&broker, version, "same").await;
        old.expect_end(ReasonCode::SESSION_TAKEN_OVER).await;
        new.ping().await;
        assert_eq!(broker.stats().connections_now, 1);
        new.disconnect().await;
    }
}

fn will(version: Version, delay_s: Option<u32>) -> Connect {
    let properties = delay_s
        .map(Property::WillDelayInterval)
        .into_iter()
        .collect();
    let mut connect = Connect::new(version, "mortal");
    connect.will = Some(Will {
        topic: "will/mortal".into(),
        payload: "dead".into(),
        qos: QoS::AtLeastOnce,
        retain: true,
        properties,
    });
    connect
}

#[tokio::test]
async fn a_will_is_published_on_an_abrupt_end_only() {
    let broker = broker().await;
    let mut heir = Client::connect(&broker, Version::V311, "heir").await;
    heir.subscribe("will/#", QoS::AtMostOnce).await;
    for version in BOTH {
        let (client, _) = Client::connect_as(&broker, will(version, None)).await;
        client.disconnect().await;
        until("gone", || broker.stats().connections_now == 1).await;
        heir.ping().await; // no will
        let (client, _) = Client::connect_as(&broker, will(version, None)).await;
        drop(client);
        assert_eq!(heir.text().await, "will/mortal dead");
        // a malformed packet is an abrupt end too
        let (mut client, _) = Client::connect_as(&broker, will(version, None)).await;
        client.send_bytes(&[0x00, 0x00]).await;
        assert_eq!(heir.text().await, "will/mortal dead");
    }
    let mut late = Client::connect(&broker, Version::V311, "late").await;
    late.subscribe("will/#", QoS::AtMostOnce).await;
    assert!(late.message().await.retain);
}

#[tokio::test]
async fn a_delayed_will_waits_and_is_called_off_by_a_return() {
    let broker = broker().await;
    let mut heir = Client::connect(&broker, Version::V311, "heir").await;
    heir.subscribe("will/#", QoS::AtMostOnce).await;
    let delayed = |delay_s| {
        let mut connect = Connect {
            clean: false,
            ..will(Version::V5, Some(delay_s))
        };
        connect
            .properties
            .push(Property::SessionExpiryInterval(600));
        connect
    };
    let (client, _) = Client::connect_as(&broker, delayed(500)).await;
    drop(client);
    until("gone", || broker.stats().connections_now == 1).await;
    let (client, answer) = Client::connect_as(&broker, delayed(1)).await;
    assert!(answer.session_present);
    heir.ping().await; // called off
    let before = std::time::Instant::now();
    drop(client);
    assert_eq!(heir.text().await, "will/mortal dead");
    assert!(before.elapsed().as_millis() >= 900);
    // DISCONNECT that asks for the will
    let (mut client, _) = Client::connect_as(&broker, will(Version::V5, None)).await;
    let reason = ReasonCode::DISCONNECT_WITH_WILL;
    client
        .send(Packet::Disconnect(Disconnect::new(reason)))
        .await;
    assert_eq!(heir.text().await, "will/mortal dead");
}

#[tokio::test]
async fn silence_beyond_the_keep_alive_ends_it() {
    let broker = broker().await;
    let connect = Connect {
        keep_alive_s: 1,
        ..Connect::new(Version::V5, "silent")
    };
    let (client, _) = Client::connect_as(&broker, connect).await;
    let before = std::time::Instant::now();
    client.expect_end(ReasonCode::KEEP_ALIVE_TIMEOUT).await;
    assert!(before.elapsed().as_millis() >= 1400);
}

#[tokio::test]
async fn malformed_packets_close_only_their_connection() {
    let broker = broker().await;
    let mut good = Client::connect(&broker, Version::V5, "good").await;
    for version in BOTH {
        for bytes in [
            &b"\x00\x00"[..],
            b"\x30\xff\xff\xff\xff\xff",
            b"\x82\x02\0\x01",
            b"\x36\x05\0\x01t\0\x01",
            b"\x30\x02\0\x09",
            b"\x30\x04\0\x01+x",
            b"\x10\x00",
            b"\x20\x02\0\0",
            b"\xf0\x00",
        ] {
            let mut bad = Client::connect(&broker, version, "bad").await;
            bad.send_bytes(bytes).await;
            if version == Version::V5 {
                let end = bad.recv().await;
                assert!(
                    matches!(&end, Packet::Disconnect(d) if d.reason.is_error()),
                    "{bytes:?}: {end:?}"
                );
            }
            assert_eq!(bad.next().await, None, "{bytes:?}");
            good.ping().await;
        }
    }
    // and before CONNECT
    for bytes in [
        &b"GET / HTTP/1.1\r\n\r\n"[..],
        b"\xc0\0",
        b"\x10\x02\0\x04",
        b"\xff",
    ] {
        let mut bad = Client::open(&broker, Version::V311).await;
        bad.send_bytes(bytes).await;
        assert_eq!(bad.next().await, None, "{bytes:?}");
    }
    good.ping().await;
}

#[tokio::test]
async fn an_unknown_version_is_told_so() {
    let broker = broker().await;
    let mut client = Client::open(&broker, Version::V311).await;
    client
        .send_bytes(b"\x10\x0d\0\x04MQTT\x09\x02\0\0\0\x01x")
        .await;
    let Packet::ConnAck(answer) = client.recv().await else {
        panic!("no CONNACK")
    };
    assert_eq!(answer.reason, ReasonCode::UNSUPPORTED_PROTOCOL_VERSION);
    assert_eq!(client.next().await, None);
}

#[tokio::test]
async fn too_large_packets_are_refused_by_their_header() {
    let broker = broker_with(Limits {
        packet_bytes_max: 1000,
        ..Limits::default()
    })
    .await;
    let connect = Connect::new(Version::V5, "c");
    let (mut client, answer) = Client::connect_as(&broker, connect).await;
    assert_eq!(answer.properties.maximum_packet_size(), Some(&1000));
    client
        .send_bytes(&[0x30, 0xFF, 0xFF, 0x03, 0, 1, b't'])
        .await;
    client.expect_end(ReasonCode::PACKET_TOO_LARGE).await;
}

#[tokio::test]
async fn packets_cut_anywhere_and_packets_larger_than_a_read() {
    let broker = broker().await;
    let mut client = Client::connect(&broker, Version::V5, "c").await;
    client.subscribe("t", QoS::AtMostOnce).await;
    let mut bytes = Vec::new();
    for payload in ["one", "two"] {
        let packet = Packet::Publish(publish("t", payload, QoS::AtMostOnce));
        packet.encode(Version::V5, &mut bytes).expect("valid");
    }
    for byte in bytes {
        client.send_bytes(&[byte]).await;
        tokio::task::yield_now().await;
    }
    assert_eq!(client.text().await, "t one");
    assert_eq!(client.text().await, "t two");
    let large = "x".repeat(900_000);
    client.publish("t", &large, QoS::AtMostOnce).await;
    assert_eq!(client.message().await.payload, large);
}

#[tokio::test]
async fn names_and_passwords() {
    let users = vec![User {
        name: "ann".into(),
        password: "secret".into(),
    }];
    let config = BrokerConfig {
        allow_anonymous: false,
        users,
        ..BrokerConfig::default()
    };
    let broker = start(config).await;
    for version in BOTH {
        for (name, password, reason) in [
            (None, None, ReasonCode::NOT_AUTHORIZED),
            (
                Some("ann"),
                Some("wrong!"),
                ReasonCode::BAD_USER_NAME_OR_PASSWORD,
            ),
            (Some("ann"), None, ReasonCode::BAD_USER_NAME_OR_PASSWORD),
            (
                Some("bob"),
                Some("secret"),
                ReasonCode::BAD_USER_NAME_OR_PASSWORD,
            ),
            (Some("ann"), Some("secret"), ReasonCode::SUCCESS),
        ] {
            let mut connect = Connect::new(version, "c");
            connect.user_name = name.map(str::to_owned);
            connect.password = password.map(|p| bytes::Bytes::from_static(p.as_bytes()));
            let (mut client, answer) = Client::connect_as(&broker, connect).await;
            assert_eq!(answer.reason, reason);
            match reason {
                ReasonCode::SUCCESS => client.ping().await,
                _ => assert_eq!(client.next().await, None),
            }
        }
    }
}

#[tokio::test]
async fn empty_client_ids() {
    let broker = broker().await;
    let (mut a, answer) = Client::connect_as(&broker, Connect::new(Version::V5, "")).await;
    assert!(answer.properties.assigned_client_id().is_some());
    let mut b = Client::connect(&broker, Version::V311, "").await;
    a.ping().await;
    b.ping().await;
    let connect = Connect {
        clean: false,
        ..Connect::new(Version::V311, "")
    };
    let (_, answer) = Client::connect_as(&broker, connect).await;
    assert_eq!(answer.reason, ReasonCode::CLIENT_ID_NOT_VALID);
}

#[tokio::test]
async fn connections_are_bounded() {
    let broker = broker_with(Limits {
        connections_max: 2,
        ..Limits::default()
    })
    .await;
    let first = Client::connect(&broker, Version::V5, "1").await;
    let second = Client::connect(&broker, Version::V311, "2").await;
    let (_, answer) = Client::connect_as(&broker, Connect::new(Version::V5, "3")).await;
    assert_eq!(answer.reason, ReasonCode::QUOTA_EXCEEDED);
    // who takes over brings its own room
    let mut taker = Client::connect(&broker, Version::V311, "2").await;
    second.expect_end(ReasonCode::SESSION_TAKEN_OVER).await;
    first.disconnect().await;
    until("room", || broker.stats().connections_now == 1).await;
    Client::connect(&broker, Version::V5, "3").await;
    taker.ping().await;
}

#[tokio::test]
async fn shutdown_says_goodbye() {
    let broker = broker().await;
    let v5 = Client::connect(&broker, Version::V5, "5").await;
    let v3 = Client::connect(&broker, Version::V311, "3").await;
    let silent = Client::open(&broker, Version::V311).await;
    let (down, (), ()) = tokio::join!(
        in_time("shutdown", broker.shutdown()),
        v5.expect_end(ReasonCode::SERVER_SHUTTING_DOWN),
        v3.expect_end(ReasonCode::SERVER_SHUTTING_DOWN),
    );
    drop(silent);
    assert_eq!((down, broker.stats().connections_now), ((), 0));
    let address = broker.local_addr().expect("address");
    assert!(tokio::net::TcpStream::connect(address).await.is_err());
}
