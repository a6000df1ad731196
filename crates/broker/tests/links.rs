//! The in-process door: batches, back-pressure, commits.

#![allow(dead_code)]
mod common;

use common::*;
use rekuiper_broker::{BrokerHandle, Link, LinkError, LinkMessage, LinkOptions, LinkPolicy};
use rekuiper_mqtt_codec::*;

fn small(policy: LinkPolicy) -> LinkOptions {
    LinkOptions {
        policy,
        queue_messages_max: 10,
        ..LinkOptions::default()
    }
}

fn committing() -> LinkOptions {
    LinkOptions {
        ack_after_link: true,
        ..LinkOptions::default()
    }
}

fn open(broker: &BrokerHandle, options: LinkOptions, filter: &str) -> Link {
    let link = broker.link_with("test", options).expect("runs");
    link.subscribe(&[filter], QoS::ExactlyOnce).expect("valid");
    link
}

async fn receive(link: &mut Link, count: usize) -> Vec<LinkMessage> {
    let mut out = Vec::new();
    while out.len() < count {
        let left = count - out.len();
        in_time("recv", link.recv(left, &mut out))
            .await
            .expect("open");
    }
    out
}

fn payloads(messages: &[LinkMessage]) -> Vec<String> {
    messages
        .iter()
        .map(|m| String::from_utf8_lossy(&m.payload).into_owned())
        .collect()
}

fn numbers(range: std::ops::Range<u32>) -> Vec<String> {
    range.map(|i| i.to_string()).collect()
}

#[tokio::test]
async fn messages_go_in_and_out() {
    let broker = broker().await;
    let mut link = open(&broker, LinkOptions::default(), "in/#");
    let mut client = Client::connect(&broker, Version::V5, "c").await;
    client.subscribe("out/#", QoS::AtLeastOnce).await;
    let properties = Properties(vec![Property::UserProperty(("unit".into(), "C".into()))]);
    client
        .publish_as(Publish {
            properties,
            ..publish("in/x", "21", QoS::AtLeastOnce)
        })
        .await;
    let got = receive(&mut link, 1).await.remove(0);
    assert_eq!((got.topic.as_str(), &got.payload[..]), ("in/x", &b"21"[..]));
    assert_eq!(
        (got.qos, got.retain, got.ack),
        (QoS::AtLeastOnce, false, None)
    );
    assert_eq!(got.user_properties, [("unit".to_owned(), "C".to_owned())]);
    let unit = [("unit".to_owned(), "F".to_owned())];
    link.publish_with("out/y", "22", QoS::AtLeastOnce, true, &unit)
        .await
        .expect("valid");
    let got = client.message().await;
    assert_eq!(
        (got.topic.as_str(), &got.payload[..]),
        ("out/y", &b"22"[..])
    );
    assert_eq!(
        got.properties.user_properties().collect::<Vec<_>>(),
        [("unit", "F")]
    );
    let mut second = open(&broker, LinkOptions::default(), "out/+");
    assert!(receive(&mut second, 1).await[0].retain);
    assert!(link.unsubscribe("in/#") && !link.unsubscribe("in/#"));
    assert_eq!(
        link.subscribe(&["ok", "a#"], QoS::AtMostOnce),
        Err(LinkError::BadFilter("a#".into()))
    );
    let bad = link.publish("a/+", "", QoS::AtMostOnce, false).await;
    assert_eq!(bad, Err(LinkError::BadTopic("a/+".into())));
}

#[tokio::test]
async fn batches_come_in_order() {
    let broker = broker().await;
    let mut link = open(&broker, LinkOptions::default(), "t");
    let mut client = Client::connect(&broker, Version::V311, "c").await;
    let mut bytes = Vec::new();
    for i in 0..3000 {
        let packet = Packet::Publish(publish("t", &i.to_string(), QoS::AtMostOnce));
        packet.encode(Version::V311, &mut bytes).expect("valid");
    }
    client.send_bytes(&bytes).await;
    let got = receive(&mut link, 3000).await;
    assert_eq!(payloads(&got), numbers(0..3000));
    assert_eq!(link.stats().dropped, 0);
}

#[tokio::test]
async fn a_full_link_stops_its_publishers_and_nobody_else() {
    let broker = broker().await;
    let mut link = open(&broker, small(LinkPolicy::Block), "t");
    let mut publisher = Client::connect(&broker, Version::V311, "pub").await;
    let mut other = Client::connect(&broker, Version::V311, "other").await;
    for i in 0..25 {
        publisher
            .send(Packet::Publish(publish(
                "t",
                &i.to_string(),
                QoS::AtMostOnce,
            )))
            .await;
    }
    publisher.send(Packet::PingReq).await;
    until("full", || link.stats().queued == 10).await;
    other.ping().await;
    other.publish("elsewhere", "x", QoS::AtLeastOnce).await;
    // the publisher's ping stands behind its messages and is not answered before them
    let early = tokio::time::timeout(std::time::Duration::from_millis(50), publisher.next()).await;
    assert!(early.is_err());
    assert_eq!(
        (link.stats().queued, broker.stats().messages_received),
        (10, 11)
    );
    let got = receive(&mut link, 25).await;
    assert_eq!(payloads(&got), numbers(0..25));
    assert_eq!(publisher.recv().await, Packet::PingResp);
    assert_eq!(link.stats().dropped, 0);
    // a publisher that waits is freed when the link closes
    for i in 0..25 {
        publisher
            .send(Packet::Publish(publish(
                "t",
                &i.to_string(),
                QoS::AtMostOnce,
            )))
            .await;
    }
    until("full", || link.stats().queued == 10).await;
    drop(link);
    publisher.ping().await;
    // and when it no longer wants the topic
    let link = open(&broker, small(LinkPolicy::Block), "t");
    for i in 0..25 {
        publisher
            .send(Packet::Publish(publish(
                "t",
                &i.to_string(),
                QoS::AtMostOnce,
            )))
            .await;
    }
    until("full", || link.stats().queued == 10).await;
    assert!(link.unsubscribe("t"));
    publisher.ping().await;
}

#[tokio::test]
async fn a_blocked_publisher_is_not_blamed_for_its_silence() {
    let broker = broker().await;
    let mut link = open(&broker, small(LinkPolicy::Block), "t");
    let connect = Connect {
        keep_alive_s: 1,
        ..Connect::new(Version::V5, "pub")
    };
    let (mut publisher, _) = Client::connect_as(&broker, connect).await;
    for i in 0..12 {
        publisher
            .send(Packet::Publish(publish(
                "t",
                &i.to_string(),
                QoS::AtMostOnce,
            )))
            .await;
    }
    // another client that is silent for as long is the clock
    let connect = Connect {
        keep_alive_s: 2,
        ..Connect::new(Version::V5, "clock")
    };
    let (clock, _) = Client::connect_as(&broker, connect).await;
    clock.expect_end(ReasonCode::KEEP_ALIVE_TIMEOUT).await;
    assert_eq!(payloads(&receive(&mut link, 12).await), numbers(0..12));
    publisher.ping().await;
}

#[tokio::test]
async fn dropping_policies_count() {
    let broker = broker().await;
    let mut newest = open(&broker, small(LinkPolicy::DropNewest), "t");
    let mut oldest = open(&broker, small(LinkPolicy::DropOldest), "t");
    let mut client = Client::connect(&broker, Version::V311, "c").await;
    for i in 0..25 {
        client.publish("t", &i.to_string(), QoS::AtLeastOnce).await;
    }
    assert_eq!(payloads(&receive(&mut newest, 10).await), numbers(0..10));
    assert_eq!(payloads(&receive(&mut oldest, 10).await), numbers(15..25));
    assert_eq!((newest.stats().dropped, oldest.stats().dropped), (15, 15));
    assert_eq!(broker.stats().dropped_link_full, 30);
}

#[tokio::test]
async fn links_wait_for_links() {
    let broker = broker().await;
    let mut link = open(&broker, small(LinkPolicy::Block), "t");
    let publisher = broker.link("pub").expect("runs");
    for i in 0..10 {
        publisher
            .try_publish("t", i.to_string(), QoS::AtMostOnce, false)
            .expect("room");
    }
    let full = publisher.try_publish("t", "10", QoS::AtMostOnce, false);
    assert_eq!(full, Err(LinkError::Full));
    let waits = async {
        for i in 10..30 {
            publisher
                .publish("t", i.to_string(), QoS::AtMostOnce, false)
                .await
                .expect("open");
        }
    };
    let (got, ()) = tokio::join!(receive(&mut link, 30), in_time("publish", waits));
    assert_eq!(payloads(&got), numbers(0..30));
}

#[tokio::test]
async fn acknowledgements_wait_for_the_commit_and_keep_their_order() {
    let broker = broker().await;
    for version in BOTH {
        let mut link = open(&broker, committing(), "t");
        let mut client = Client::connect(&broker, version, "c").await;
        for id in 1..=3 {
            let packet_id = Some(id);
            let qos = if id == 2 {
                QoS::ExactlyOnce
            } else {
                QoS::AtLeastOnce
            };
            let packet = Publish {
                packet_id,
                ..publish("t", "x", qos)
            };
            client.send(Packet::Publish(packet)).await;
        }
        // one that no link takes waits for its turn all the same
        let packet = Publish {
            packet_id: Some(4),
            ..publish("else", "x", QoS::AtLeastOnce)
        };
        client.send(Packet::Publish(packet)).await;
        let got = receive(&mut link, 3).await;
        client.ping().await; // nothing is acknowledged
        assert_eq!(link.stats().uncommitted, 3);
        link.ack_all([
            got[2].ack.expect("asked for"),
            got[1].ack.expect("asked for"),
        ]);
        client.ping().await;
        link.ack(got[0].ack.expect("asked for"));
        link.ack(got[0].ack.expect("twice does not matter"));
        assert!(matches!(client.recv().await, Packet::PubAck(a) if a.packet_id == 1));
        assert!(matches!(client.recv().await, Packet::PubRec(a) if a.packet_id == 2));
        assert!(matches!(client.recv().await, Packet::PubAck(a) if a.packet_id == 3));
        assert!(matches!(client.recv().await, Packet::PubAck(a) if a.packet_id == 4));
        client.send(Packet::PubRel(ack(Some(2)))).await;
        assert!(matches!(client.recv().await, Packet::PubComp(_)));
        assert_eq!(link.stats().uncommitted, 0);
        client.disconnect().await;
    }
}

#[tokio::test]
async fn all_committing_links_must_commit() {
    let broker = broker().await;
    let mut a = open(&broker, committing(), "t");
    let mut b = open(&broker, committing(), "#");
    let mut client = Client::connect(&broker, Version::V311, "c").await;
    client
        .send(Packet::Publish(publish("t", "x", QoS::AtLeastOnce)))
        .await;
    let (first, second) = (receive(&mut a, 1).await, receive(&mut b, 1).await);
    a.ack(first[0].ack.expect("asked for"));
    client.ping().await;
    b.ack(second[0].ack.expect("asked for"));
    assert!(matches!(client.recv().await, Packet::PubAck(_)));
}

#[tokio::test]
async fn what_a_closed_link_did_not_commit_is_sent_again() {
    let broker = broker().await;
    for qos in [QoS::AtLeastOnce, QoS::ExactlyOnce] {
        let mut link = open(&broker, committing(), "t");
        let (mut client, _) = Client::resume(&broker, Version::V5, "stay").await;
        client.send(Packet::Publish(publish("t", "x", qos))).await;
        receive(&mut link, 1).await;
        drop(link);
        client.expect_end(ReasonCode::IMPLEMENTATION_ERROR).await;
        let mut link = open(&broker, committing(), "t");
        let (mut client, present) = Client::resume(&broker, Version::V5, "stay").await;
        assert!(present);
        let again = Publish {
            dup: true,
            ..publish("t", "x", qos)
        };
        client.send(Packet::Publish(again)).await;
        let got = receive(&mut link, 1).await;
        link.ack(got[0].ack.expect("asked for"));
        assert!(matches!(
            client.recv().await,
            Packet::PubAck(_) | Packet::PubRec(_)
        ));
        client.send(Packet::PubRel(ack(Some(5)))).await;
        assert!(matches!(client.recv().await, Packet::PubComp(_)));
        client.disconnect().await;
    }
}

#[tokio::test]
async fn links_share_and_end() {
    let broker = broker().await;
    let mut a = open(&broker, LinkOptions::default(), "$share/g/t");
    let mut b = open(&broker, LinkOptions::default(), "$share/g/t");
    let mut client = Client::connect(&broker, Version::V311, "c").await;
    for i in 0..10 {
        client.publish("t", &i.to_string(), QoS::AtLeastOnce).await;
    }
    assert_eq!(
        (
            receive(&mut a, 5).await.len(),
            receive(&mut b, 5).await.len()
        ),
        (5, 5)
    );
    let handle = a.handle();
    drop(a);
    let after = handle.try_publish("t", "x", QoS::AtMostOnce, false);
    assert_eq!(after, Err(LinkError::Closed));
    let mut out = Vec::new();
    let (ended, ()) = tokio::join!(in_time("end", b.recv(1, &mut out)), broker.shutdown());
    assert_eq!(ended, Err(LinkError::Closed));
    assert!(matches!(broker.link("late"), Err(LinkError::Closed)));
}

/// Several threads: each message reaches every subscriber once, in its publisher's order.
#[tokio::test(flavor = "multi_thread", worker_threads = 3)]
async fn many_publishers_at_once() {
    const PUBLISHERS: usize = 4;
    const EACH: usize = 1500;
    let broker = broker().await;
    let mut link = open(&broker, committing(), "t/+");
    let mut client = Client::connect(&broker, Version::V5, "sub").await;
    client.subscribe("t/+", QoS::AtLeastOnce).await;
    let mut tasks = Vec::new();
    for p in 0..PUBLISHERS {
        let mut publisher = Client::connect(&broker, BOTH[p % 2], &format!("p{p}")).await;
        tasks.push(tokio::spawn(async move {
            let topic = format!("t/{p}");
            // a window of ten: the acknowledgements wait for the link
            let mut unanswered = 0;
            for i in 0..EACH {
                let packet_id = Some(i as u16 + 1);
                let packet = publish(&topic, &i.to_string(), QoS::AtLeastOnce);
                publisher
                    .send(Packet::Publish(Publish {
                        packet_id,
                        ..packet
                    }))
                    .await;
                unanswered += 1;
                if unanswered == 10 {
                    let expected = i as u16 + 1 - 9;
                    let answer = publisher.recv().await;
                    assert!(matches!(answer, Packet::PubAck(a) if a.packet_id == expected));
                    unanswered -= 1;
                }
            }
            for _ in 0..unanswered {
                publisher.recv().await;
            }
        }));
    }
    let subscriber = tokio::spawn(async move {
        let mut next = [0; PUBLISHERS];
        for _ in 0..PUBLISHERS * EACH {
            let got = client.message().await;
            client.send(Packet::PubAck(ack(got.packet_id))).await;
            check_order(&mut next, &got.topic, &got.payload);
        }
        client.ping().await;
    });
    let mut next = [0; PUBLISHERS];
    for _ in 0..PUBLISHERS * EACH {
        let got = receive(&mut link, 1).await.remove(0);
        check_order(&mut next, got.topic.as_str(), &got.payload);
        link.ack(got.ack.expect("asked for"));
    }
    for task in tasks {
        in_time("publisher", task).await.expect("no panic");
    }
    in_time("subscriber", subscriber).await.expect("no panic");
    assert_eq!(broker.stats().messages_dropped(), 0);
}

fn check_order(next: &mut [usize], topic: &str, payload: &[u8]) {
    let publisher: usize = topic[2..].parse().expect("number");
    let number: usize = String::from_utf8_lossy(payload).parse().expect("number");
    assert_eq!(number, next[publisher], "from publisher {publisher}");
    next[publisher] += 1;
}
