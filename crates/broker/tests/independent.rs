//! A client that shares no code with us understands the broker.

use std::collections::BTreeSet;
use std::time::Duration;

use rekuiper_broker::{Broker, BrokerConfig, BrokerHandle};
use rumqttc::{AsyncClient, MqttOptions, QoS, v5};

const MESSAGES: usize = 300;

async fn broker() -> BrokerHandle {
    let listeners = vec!["127.0.0.1:0".parse().expect("address")];
    Broker::start(BrokerConfig {
        listeners,
        ..BrokerConfig::default()
    })
    .await
    .expect("starts")
}

async fn in_time<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(20), work)
        .await
        .expect("in time")
}

/// A round: one client publishes to itself at each QoS until all has come back.
#[tokio::test]
async fn version_3_1_1() {
    let broker = broker().await;
    let port = broker.local_addr().expect("address").port();
    for qos in [QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce] {
        let mut options = MqttOptions::new("independent", "127.0.0.1", port);
        options.set_keep_alive(Duration::from_secs(5));
        let (client, mut events) = AsyncClient::new(options, 10);
        client.subscribe("r/+", qos).await.expect("queued");
        let publisher = client.clone();
        tokio::spawn(async move {
            for i in 0..MESSAGES {
                publisher
                    .publish("r/x", qos, false, i.to_string())
                    .await
                    .expect("queued");
            }
        });
        let mut seen = BTreeSet::new();
        while seen.len() < MESSAGES {
            let event = in_time(events.poll()).await.expect("connected");
            if let rumqttc::Event::Incoming(rumqttc::Packet::Publish(message)) = event {
                assert_eq!((message.topic.as_str(), message.qos), ("r/x", qos));
                assert!(seen.insert(message.payload.to_vec()), "came twice");
            }
        }
        client.disconnect().await.expect("queued");
        while in_time(events.poll()).await.is_ok() {}
    }
}

#[tokio::test]
async fn version_5() {
    use v5::mqttbytes::QoS;
    use v5::mqttbytes::v5::{Packet, PublishProperties};
    let broker = broker().await;
    let port = broker.local_addr().expect("address").port();
    for qos in [QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce] {
        let mut options = v5::MqttOptions::new("independent", "127.0.0.1", port);
        options.set_keep_alive(Duration::from_secs(5));
        let (client, mut events) = v5::AsyncClient::new(options, 10);
        client.subscribe("r/+", qos).await.expect("queued");
        let publisher = client.clone();
        let user_properties = vec![("k".to_owned(), "v".to_owned())];
        let properties = PublishProperties {
            user_properties,
            ..PublishProperties::default()
        };
        let expected = properties.user_properties.clone();
        tokio::spawn(async move {
            for i in 0..MESSAGES {
                let payload = i.to_string();
                let sent = publisher
                    .publish_with_properties("r/x", qos, false, payload, properties.clone())
                    .await;
                sent.expect("queued");
            }
        });
        let mut seen = BTreeSet::new();
        while seen.len() < MESSAGES {
            let event = in_time(events.poll()).await.expect("connected");
            if let v5::Event::Incoming(Packet::Publish(message)) = event {
                assert_eq!((&message.topic[..], message.qos), (&b"r/x"[..], qos));
                let properties = message.properties.expect("properties").user_properties;
                assert_eq!(properties, expected);
                assert!(seen.insert(message.payload.to_vec()), "came twice");
            }
        }
        client.disconnect().await.expect("queued");
        while in_time(events.poll()).await.is_ok() {}
    }
}
