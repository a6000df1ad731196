//! A small MQTT client on the codec, one packet at a time, over real TCP.

use std::time::Duration;

use rekuiper_broker::{Broker, BrokerConfig, BrokerHandle, Limits};
use rekuiper_mqtt_codec::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// Longer than anything takes; only a broken broker waits for it.
const PATIENCE: Duration = Duration::from_secs(10);

pub const BOTH: [Version; 2] = [Version::V311, Version::V5];

pub const ALL: [Version; 3] = [Version::V31, Version::V311, Version::V5];

pub async fn broker() -> BrokerHandle {
    broker_with(Limits::default()).await
}

/// A broker on a free port whose clock ticks fast.
pub async fn broker_with(limits: Limits) -> BrokerHandle {
    let limits = Limits {
        tick_ms: 20,
        ..limits
    };
    start(BrokerConfig {
        limits,
        ..BrokerConfig::default()
    })
    .await
}

pub async fn start(config: BrokerConfig) -> BrokerHandle {
    let listeners = vec!["127.0.0.1:0".parse().expect("address")];
    Broker::start(BrokerConfig {
        listeners,
        ..config
    })
    .await
    .expect("a free port")
}

/// Waits until a counter says so.
pub async fn until(what: &str, condition: impl Fn() -> bool) {
    let wait = async {
        while !condition() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(PATIENCE, wait)
        .await
        .unwrap_or_else(|_| panic!("never: {what}"));
}

pub async fn in_time<T>(what: &str, work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work)
        .await
        .unwrap_or_else(|_| panic!("waits for ever: {what}"))
}

pub struct Client {
    pub stream: TcpStream,
    pub version: Version,
    buf: Vec<u8>,
}

impl Client {
    pub async fn open(broker: &BrokerHandle, version: Version) -> Client {
        let address = broker.local_addr().expect("a listener");
        let stream = TcpStream::connect(address).await.expect("connects");
        Client {
            stream,
            version,
            buf: Vec::new(),
        }
    }

    /// Connects clean, with nothing special.
    pub async fn connect(broker: &BrokerHandle, version: Version, id: &str) -> Client {
        let (client, answer) = Client::connect_as(broker, Connect::new(version, id)).await;
        assert_eq!(
            (answer.reason, answer.session_present),
            (ReasonCode::SUCCESS, false)
        );
        client
    }

    /// Connects with a session that stays; returns whether there was one.
    pub async fn resume(broker: &BrokerHandle, version: Version, id: &str) -> (Client, bool) {
        let mut connect = Connect {
            clean: false,
            ..Connect::new(version, id)
        };
        if version == Version::V5 {
            connect
                .properties
                .push(Property::SessionExpiryInterval(600));
        }
        let (client, answer) = Client::connect_as(broker, connect).await;
        assert_eq!(answer.reason, ReasonCode::SUCCESS);
        (client, answer.session_present)
    }

    pub async fn connect_as(broker: &BrokerHandle, connect: Connect) -> (Client, ConnAck) {
        let mut client = Client::open(broker, connect.version).await;
        client.send(Packet::Connect(connect)).await;
        match client.recv().await {
            Packet::ConnAck(answer) => (client, answer),
            other => panic!("no CONNACK but {other:?}"),
        }
    }

    pub async fn send(&mut self, packet: Packet) {
        let mut out = Vec::new();
        packet
            .encode(self.version, &mut out)
            .expect("a good packet");
        self.send_bytes(&out).await;
    }

    pub async fn send_bytes(&mut self, bytes: &[u8]) {
        in_time("send", self.stream.write_all(bytes))
            .await
            .expect("sends");
    }

    /// The next packet; `None` = the broker closed the connection.
    pub async fn next(&mut self) -> Option<Packet> {
        loop {
            let found = Packet::decode(self.version, &self.buf).expect("the broker speaks MQTT");
            if let Some((packet, used)) = found {
                self.buf.drain(..used);
                return Some(packet);
            }
            match in_time("a packet", self.stream.read_buf(&mut self.buf)).await {
                Ok(n) if n > 0 => {}
                _ => return None,
            }
        }
    }

    pub async fn recv(&mut self) -> Packet {
        self.next().await.expect("a packet, not the end")
    }

    /// The next packet, which must be a PUBLISH.
    pub async fn message(&mut self) -> Publish {
        match self.recv().await {
            Packet::Publish(publish) => publish,
            other => panic!("no PUBLISH but {other:?}"),
        }
    }

    /// Topic and payload of the next PUBLISH.
    pub async fn text(&mut self) -> String {
        let publish = self.message().await;
        format!(
            "{} {}",
            publish.topic,
            String::from_utf8_lossy(&publish.payload)
        )
    }

    pub async fn subscribe(&mut self, filter: &str, qos: QoS) {
        let filters = vec![SubscribeFilter::new(filter, qos)];
        self.subscribe_to(filters, Properties::default()).await;
    }

    pub async fn subscribe_to(&mut self, filters: Vec<SubscribeFilter>, properties: Properties) {
        let expected: Vec<_> = filters.iter().map(|f| ReasonCode(f.qos as u8)).collect();
        self.send(Packet::Subscribe(Subscribe {
            packet_id: 77,
            properties,
            filters,
        }))
        .await;
        match self.recv().await {
            Packet::SubAck(ack) => assert_eq!((ack.packet_id, ack.reasons), (77, expected)),
            other => panic!("no SUBACK but {other:?}"),
        }
    }

    /// Publishes and goes through the whole handshake of the QoS.
    pub async fn publish(&mut self, topic: &str, payload: &str, qos: QoS) {
        self.publish_as(publish(topic, payload, qos)).await;
    }

    pub async fn publish_as(&mut self, publish: Publish) {
        let (qos, id) = (publish.qos, publish.packet_id.unwrap_or(0));
        self.send(Packet::Publish(publish)).await;
        if qos == QoS::AtLeastOnce {
            assert!(matches!(self.recv().await, Packet::PubAck(ack) if ack.packet_id == id));
        }
        if qos == QoS::ExactlyOnce {
            assert!(matches!(self.recv().await, Packet::PubRec(ack) if ack.packet_id == id));
            self.send(Packet::PubRel(Ack::new(id, ReasonCode::SUCCESS)))
                .await;
            assert!(matches!(self.recv().await, Packet::PubComp(ack) if ack.packet_id == id));
        }
    }

    /// A round trip: all that was sent before has been handled.
    pub async fn ping(&mut self) {
        self.send(Packet::PingReq).await;
        let answer = self.recv().await;
        assert_eq!(answer, Packet::PingResp);
    }

    /// Ends the connection properly, and waits until the broker has noticed.
    pub async fn disconnect(mut self) {
        self.send(Packet::Disconnect(Disconnect::default())).await;
        assert_eq!(self.next().await, None);
    }

    /// Expects the end; in MQTT 5 with this reason.
    pub async fn expect_end(mut self, reason: ReasonCode) {
        if self.version == Version::V5 {
            match self.recv().await {
                Packet::Disconnect(end) => assert_eq!(end.reason, reason),
                other => panic!("no DISCONNECT but {other:?}"),
            }
        }
        assert_eq!(self.next().await, None);
    }
}

pub fn publish(topic: &str, payload: &str, qos: QoS) -> Publish {
    Publish {
        topic: topic.into(),
        payload: payload.to_owned().into(),
        qos,
        packet_id: (qos != QoS::AtMostOnce).then_some(5),
        ..Publish::default()
    }
}

pub fn ack(id: Option<u16>) -> Ack {
    Ack::new(id.expect("a packet identifier"), ReasonCode::SUCCESS)
}
