//! Who gets which message: QoS, wildcards, retained, shared subscriptions, properties.

#![allow(dead_code)]
mod common;

use common::*;
use rekuiper_broker::Limits;
use rekuiper_mqtt_codec::*;

#[tokio::test]
async fn every_qos_in_all_versions_and_across() {
    let broker = broker().await;
    for from in ALL {
        for to in ALL {
            for qos in [QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce] {
                let mut subscriber = Client::connect(&broker, to, "sub").await;
                subscriber.subscribe("a/+", qos).await;
                let mut publisher = Client::connect(&broker, from, "pub").await;
                publisher.publish("a/b", "hello", qos).await;
                let got = subscriber.message().await;
                assert_eq!(
                    (got.topic.as_str(), &got.payload[..]),
                    ("a/b", &b"hello"[..])
                );
                assert_eq!((got.qos, got.dup, got.retain), (qos, false, false));
                match qos {
                    QoS::AtMostOnce => {}
                    QoS::AtLeastOnce => subscriber.send(Packet::PubAck(ack(got.packet_id))).await,
                    QoS::ExactlyOnce => {
                        subscriber.send(Packet::PubRec(ack(got.packet_id))).await;
                        let rel = subscriber.recv().await;
                        assert_eq!(rel, Packet::PubRel(ack(got.packet_id)));
                        subscriber.send(Packet::PubComp(ack(got.packet_id))).await;
                    }
                }
                subscriber.ping().await;
                subscriber.disconnect().await;
                publisher.disconnect().await;
            }
        }
    }
    broker.shutdown().await;
}

#[tokio::test]
async fn the_lower_qos_wins() {
    let broker = broker().await;
    let mut client = Client::connect(&broker, Version::V311, "c").await;
    client.subscribe("low", QoS::AtMostOnce).await;
    client.publish("low", "x", QoS::AtMostOnce).await;
    assert_eq!(client.message().await.qos, QoS::AtMostOnce);
    client.subscribe("high", QoS::ExactlyOnce).await;
    client
        .send(Packet::Publish(publish("high", "x", QoS::AtLeastOnce)))
        .await;
    let mut seen = [client.recv().await, client.recv().await];
    seen.sort_by_key(|p| matches!(p, Packet::Publish(_)));
    assert!(matches!(&seen[1], Packet::Publish(p) if p.qos == QoS::AtLeastOnce));
}

#[tokio::test]
async fn a_qos2_message_sent_twice_arrives_once() {
    let broker = broker().await;
    let mut subscriber = Client::connect(&broker, Version::V311, "sub").await;
    subscriber.subscribe("t", QoS::AtMostOnce).await;
    let mut publisher = Client::connect(&broker, Version::V311, "pub").await;
    let first = publish("t", "once", QoS::ExactlyOnce);
    let again = Publish {
        dup: true,
        ..first.clone()
    };
    for packet in [first, again] {
        publisher.send(Packet::Publish(packet)).await;
        assert!(matches!(publisher.recv().await, Packet::PubRec(_)));
    }
    publisher.send(Packet::PubRel(ack(Some(5)))).await;
    assert!(matches!(publisher.recv().await, Packet::PubComp(_)));
    publisher.publish("t", "next", QoS::AtMostOnce).await;
    assert_eq!(subscriber.text().await, "t once");
    assert_eq!(subscriber.text().await, "t next");
}

#[tokio::test]
async fn wildcards_and_hidden_topics() {
    let broker = broker().await;
    let mut all = Client::connect(&broker, Version::V311, "all").await;
    all.subscribe("#", QoS::AtMostOnce).await;
    let mut some = Client::connect(&broker, Version::V5, "some").await;
    some.subscribe("plant/+/temp", QoS::AtMostOnce).await;
    let mut publisher = Client::connect(&broker, Version::V311, "pub").await;
    for topic in [
        "plant/a/temp",
        "plant/a/b/temp",
        "plant/temp",
        "$secret",
        "plant//temp",
    ] {
        publisher.publish(topic, "1", QoS::AtMostOnce).await;
    }
    publisher.ping().await;
    for topic in [
        "plant/a/temp",
        "plant/a/b/temp",
        "plant/temp",
        "plant//temp",
    ] {
        assert_eq!(all.message().await.topic, topic);
    }
    for topic in ["plant/a/temp", "plant//temp"] {
        assert_eq!(some.message().await.topic, topic);
    }
    some.ping().await; // and nothing else in between
    let mut sys = Client::connect(&broker, Version::V311, "sys").await;
    sys.subscribe("$SYS/broker/version", QoS::AtMostOnce).await;
    assert!(sys.text().await.starts_with("$SYS/broker/version rekuiper"));
}

#[tokio::test]
async fn unsubscribe_ends_it() {
    let broker = broker().await;
    for version in BOTH {
        let mut client = Client::connect(&broker, version, "c").await;
        client.subscribe("t", QoS::AtMostOnce).await;
        let filters = vec!["t".to_owned(), "never".to_owned()];
        let packet = Unsubscribe {
            packet_id: 9,
            filters,
            ..Unsubscribe::default()
        };
        client.send(Packet::Unsubscribe(packet)).await;
        let Packet::UnsubAck(answer) = client.recv().await else {
            panic!("no UNSUBACK")
        };
        let expected = match version {
            Version::V5 => vec![ReasonCode::SUCCESS, ReasonCode::NO_SUBSCRIPTION_EXISTED],
            _ => vec![],
        };
        assert_eq!((answer.packet_id, answer.reasons), (9, expected));
        client.publish("t", "x", QoS::AtMostOnce).await;
        client.ping().await;
        client.disconnect().await;
    }
}

#[tokio::test]
async fn bad_filters_are_refused_one_by_one() {
    let broker = broker().await;
    for version in BOTH {
        let mut client = Client::connect(&broker, version, "c").await;
        let properties: &[u8] = if version == Version::V5 { &[0] } else { &[] };
        let body = [&[0, 1], properties, b"\0\x03a#b\x01\0\x02ok\x01"].concat();
        client
            .send_bytes(&[&[0x82, body.len() as u8], &body[..]].concat())
            .await;
        let Packet::SubAck(answer) = client.recv().await else {
            panic!("no SUBACK")
        };
        let refused = match version {
            Version::V5 => ReasonCode::TOPIC_FILTER_INVALID,
            _ => ReasonCode(0x80),
        };
        assert_eq!(answer.reasons, [refused, ReasonCode::GRANTED_QOS1]);
    }
}

#[tokio::test]
async fn retained_messages() {
    let broker = broker().await;
    let retained = |topic, payload| Publish {
        retain: true,
        ..publish(topic, payload, QoS::AtMostOnce)
    };
    let mut publisher = Client::connect(&broker, Version::V311, "pub").await;
    publisher.publish_as(retained("r/a", "old")).await;
    publisher.publish_as(retained("r/a", "new")).await;
    publisher.publish_as(retained("r/b", "b")).await;
    publisher.publish_as(retained("r/c", "c")).await;
    publisher.publish_as(retained("r/c", "")).await;
    publisher.ping().await;
    for version in BOTH {
        let mut late = Client::connect(&broker, version, "late").await;
        late.subscribe("r/#", QoS::AtMostOnce).await;
        for expected in ["r/a new", "r/b b"] {
            let got = late.message().await;
            assert!(got.retain);
            let text = format!("{} {}", got.topic, String::from_utf8_lossy(&got.payload));
            assert_eq!(text, expected);
        }
        // a live message is not marked as retained
        publisher.publish_as(retained("r/b", "b")).await;
        assert!(!late.message().await.retain);
        late.ping().await;
        late.disconnect().await;
    }
    assert!(broker.stats().retained_now >= 2);
}

#[tokio::test]
async fn subscription_options_of_mqtt_5() {
    let broker = broker().await;
    let mut client = Client::connect(&broker, Version::V5, "c").await;
    let retained = Publish {
        retain: true,
        ..publish("o/x", "1", QoS::AtMostOnce)
    };
    client.publish_as(retained.clone()).await;
    let filter = |filter: &str| SubscribeFilter::new(filter, QoS::AtMostOnce);
    let none = Properties::default;
    // no local, and as published
    client
        .subscribe_to(
            vec![SubscribeFilter {
                no_local: true,
                retain_as_published: true,
                retain_handling: RetainHandling::DoNotSend,
                ..filter("o/#")
            }],
            none(),
        )
        .await;
    client.publish_as(retained.clone()).await;
    let mut other = Client::connect(&broker, Version::V5, "other").await;
    other.publish_as(retained).await;
    let got = client.message().await;
    assert!(got.retain);
    client.ping().await; // its own message did not come back
    // retained only for a new subscription
    let if_new = SubscribeFilter {
        retain_handling: RetainHandling::SendIfNew,
        ..filter("o/x")
    };
    other.subscribe_to(vec![if_new.clone()], none()).await;
    assert!(other.message().await.retain);
    other.subscribe_to(vec![if_new], none()).await;
    other.ping().await;
}

#[tokio::test]
async fn properties_travel_and_subscription_ids_are_added() {
    let broker = broker().await;
    let mut subscriber = Client::connect(&broker, Version::V5, "sub").await;
    for (filter, id) in [("p/#", 7), ("p/+", 300)] {
        let properties = Properties(vec![Property::SubscriptionIdentifier(VarInt(id))]);
        let filters = vec![SubscribeFilter::new(filter, QoS::AtLeastOnce)];
        subscriber.subscribe_to(filters, properties).await;
    }
    let mut publisher = Client::connect(&broker, Version::V5, "pub").await;
    let sent = vec![
        Property::PayloadFormatIndicator(1),
        Property::ContentType("text/plain".into()),
        Property::ResponseTopic("answer/here".into()),
        Property::CorrelationData(bytes::Bytes::from_static(b"\x01\x02")),
        Property::UserProperty(("k".into(), "v1".into())),
        Property::UserProperty(("k".into(), "v2".into())),
    ];
    let mut properties = Properties(sent.clone());
    properties.push(Property::MessageExpiryInterval(100));
    publisher
        .publish_as(Publish {
            properties,
            ..publish("p/x", "1", QoS::AtMostOnce)
        })
        .await;
    let got = subscriber.message().await.properties;
    let expiry = got.message_expiry().copied().expect("expiry");
    assert!((99..=100).contains(&expiry), "{expiry}");
    let mut ids: Vec<u32> = got
        .iter()
        .filter_map(|p| match p {
            Property::SubscriptionIdentifier(id) => Some(id.0),
            _ => None,
        })
        .collect();
    ids.sort_unstable();
    assert_eq!(ids, [7, 300], "one copy that names both subscriptions");
    let onward: Vec<_> = got.iter().filter(|p| sent.contains(p)).cloned().collect();
    assert_eq!(onward, sent);
}

#[tokio::test]
async fn topic_aliases() {
    let broker = broker().await;
    let mut subscriber = Client::connect(&broker, Version::V311, "sub").await;
    subscriber.subscribe("#", QoS::AtMostOnce).await;
    let mut publisher = Client::connect(&broker, Version::V5, "pub").await;
    let alias = |topic, payload, alias| Publish {
        properties: Properties(vec![Property::TopicAlias(alias)]),
        ..publish(topic, payload, QoS::AtMostOnce)
    };
    for (topic, payload, number) in [
        ("a", "1", 1),
        ("", "2", 1),
        ("b", "3", 2),
        ("c", "4", 1),
        ("", "5", 2),
        ("", "6", 1),
    ] {
        publisher.publish_as(alias(topic, payload, number)).await;
    }
    for expected in ["a 1", "a 2", "b 3", "c 4", "b 5", "c 6"] {
        assert_eq!(subscriber.text().await, expected);
    }
    publisher.publish_as(alias("", "7", 9)).await;
    publisher.expect_end(ReasonCode::PROTOCOL_ERROR).await;
    let mut other = Client::connect(&broker, Version::V5, "other").await;
    other.publish_as(alias("x", "8", 60_000)).await;
    other.expect_end(ReasonCode::TOPIC_ALIAS_INVALID).await;
}

#[tokio::test]
async fn shared_subscriptions_split_evenly() {
    let broker = broker().await;
    let mut members = Vec::new();
    for (i, version) in [Version::V311, Version::V5, Version::V5]
        .into_iter()
        .enumerate()
    {
        let mut member = Client::connect(&broker, version, &format!("m{i}")).await;
        member.subscribe("$share/g/s/#", QoS::AtLeastOnce).await;
        members.push(member);
    }
    let mut outside = Client::connect(&broker, Version::V311, "outside").await;
    outside.subscribe("s/#", QoS::AtMostOnce).await;
    let mut publisher = Client::connect(&broker, Version::V311, "pub").await;
    for i in 0..30 {
        publisher
            .publish("s/x", &i.to_string(), QoS::AtLeastOnce)
            .await;
    }
    let mut all = Vec::new();
    for member in &mut members {
        for _ in 0..10 {
            let got = member.message().await;
            member.send(Packet::PubAck(ack(got.packet_id))).await;
            all.push(
                String::from_utf8_lossy(&got.payload)
                    .parse::<u32>()
                    .expect("number"),
            );
        }
        member.ping().await;
    }
    all.sort_unstable();
    assert_eq!(all, (0..30).collect::<Vec<_>>());
    for i in 0..30 {
        assert_eq!(outside.text().await, format!("s/x {i}"));
    }
    // a member that leaves leaves its turns to the others
    members.remove(0).disconnect().await;
    for i in 0..4 {
        publisher
            .publish("s/x", &i.to_string(), QoS::AtLeastOnce)
            .await;
    }
    for member in &mut members {
        member.message().await;
        member.message().await;
    }
}

#[tokio::test]
async fn a_slow_subscriber_loses_counted_messages_and_others_none() {
    let limits = Limits {
        queue_messages_max: 50,
        ..Limits::default()
    };
    let broker = broker_with(limits).await;
    let mut slow = Client::connect(&broker, Version::V311, "slow").await;
    slow.subscribe("big", QoS::AtMostOnce).await;
    let mut quick = Client::connect(&broker, Version::V311, "quick").await;
    quick.subscribe("big", QoS::AtMostOnce).await;
    let mut publisher = Client::connect(&broker, Version::V311, "pub").await;
    let payload = "x".repeat(60_000);
    // `slow` does not read; in the end its socket and its queue are full
    let mut sent = 0;
    while broker.stats().dropped_queue_full < 10 {
        publisher.publish("big", &payload, QoS::AtMostOnce).await;
        sent += 1;
        assert_eq!(quick.message().await.payload.len(), 60_000);
        assert!(sent < 5000, "nothing was ever dropped");
    }
    let dropped = broker.stats().dropped_queue_full;
    for _ in 0..sent - dropped {
        assert_eq!(slow.message().await.payload.len(), 60_000);
    }
    slow.ping().await; // it lives, and there was nothing more
    publisher.ping().await;
}

#[tokio::test]
async fn clients_with_a_small_packet_size_do_not_get_large_messages() {
    let broker = broker().await;
    let mut connect = Connect::new(Version::V5, "small");
    connect.properties.push(Property::MaximumPacketSize(100));
    let (mut small, _) = Client::connect_as(&broker, connect).await;
    small.subscribe("t", QoS::AtLeastOnce).await;
    let mut publisher = Client::connect(&broker, Version::V5, "pub").await;
    publisher
        .publish("t", &"x".repeat(200), QoS::AtLeastOnce)
        .await;
    publisher.publish("t", "short", QoS::AtLeastOnce).await;
    assert_eq!(small.text().await, "t short");
    assert_eq!(broker.stats().dropped_too_large, 1);
}

#[tokio::test]
async fn the_receive_maximum_of_a_client_is_kept() {
    let broker = broker().await;
    let mut connect = Connect::new(Version::V5, "narrow");
    connect.properties.push(Property::ReceiveMaximum(2));
    let (mut narrow, _) = Client::connect_as(&broker, connect).await;
    narrow.subscribe("t", QoS::AtLeastOnce).await;
    let mut publisher = Client::connect(&broker, Version::V5, "pub").await;
    for i in 0..4 {
        publisher
            .publish("t", &i.to_string(), QoS::AtLeastOnce)
            .await;
    }
    let first = narrow.message().await;
    narrow.message().await;
    narrow.ping().await; // two are open: no third
    narrow.send(Packet::PubAck(ack(first.packet_id))).await;
    assert_eq!(narrow.text().await, "t 2");
    narrow.ping().await;
}
