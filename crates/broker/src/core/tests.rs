//! Arbitrary clients against the core: whatever they send, it neither panics nor leaks.

use std::sync::Arc;

use bytes::Bytes;
use proptest::prelude::*;
use rekuiper_mqtt_codec::*;

use super::{Core, Goodbye, Next};
use crate::door::Door;
use crate::message::SubscriberId;
use crate::{BrokerConfig, Limits, LinkOptions, LinkPolicy};

#[derive(Clone, Debug)]
enum Step {
    Connect {
        client: usize,
        v5: bool,
        clean: bool,
        expiry_s: u32,
        will: bool,
    },
    Close {
        client: usize,
        proper: bool,
    },
    Send {
        client: usize,
        packet: Packet,
    },
    Bytes {
        client: usize,
        bytes: Vec<u8>,
    },
    Link {
        at: usize,
    },
    Receive {
        at: usize,
        ack: bool,
    },
    Pass {
        ms: u64,
    },
}

fn topic() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "a/b", "a/c", "b", ""]).prop_map(str::to_owned)
}

fn filter() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "#",
        "a/+",
        "a/b",
        "$share/g/a/#",
        "$share/g/+",
        "a/#",
        "$SYS/#",
    ])
    .prop_map(str::to_owned)
}

fn packet() -> impl Strategy<Value = Packet> {
    let id = 1..5u16;
    let qos = prop::sample::select(vec![QoS::AtMostOnce, QoS::AtLeastOnce, QoS::ExactlyOnce]);
    let publish = (
        topic(),
        qos.clone(),
        any::<bool>(),
        id.clone(),
        0..200usize,
        0..4u16,
    )
        .prop_map(|(topic, qos, retain, id, len, alias)| {
            let mut properties = Properties::default();
            if alias > 0 {
                properties.push(Property::TopicAlias(alias));
                properties.push(Property::MessageExpiryInterval(u32::from(alias)));
            }
            Packet::Publish(Publish {
                topic,
                packet_id: (qos != QoS::AtMostOnce).then_some(id),
                qos,
                retain,
                payload: vec![7; len].into(),
                properties,
                ..Publish::default()
            })
        });
    let subscribe = (filter(), qos, id.clone()).prop_map(|(filter, qos, packet_id)| {
        let filters = vec![SubscribeFilter::new(filter, qos)];
        Packet::Subscribe(Subscribe {
            packet_id,
            filters,
            ..Subscribe::default()
        })
    });
    let unsubscribe = (filter(), id.clone()).prop_map(|(filter, packet_id)| {
        let filters = vec![filter];
        Packet::Unsubscribe(Unsubscribe {
            packet_id,
            filters,
            ..Unsubscribe::default()
        })
    });
    let kinds = vec![
        Packet::PubAck,
        Packet::PubRec,
        Packet::PubRel,
        Packet::PubComp,
    ];
    let ack = (prop::sample::select(kinds), id)
        .prop_map(|(kind, id): (fn(Ack) -> Packet, u16)| kind(Ack::new(id, ReasonCode::SUCCESS)));
    prop_oneof![6 => publish, 2 => subscribe, 1 => unsubscribe, 4 => ack]
}

fn step() -> impl Strategy<Value = Step> {
    let client = 0..3usize;
    prop_oneof![
        2 => (client.clone(), any::<bool>(), any::<bool>(), 0..3u32, any::<bool>()).prop_map(
            |(client, v5, clean, expiry_s, will)| Step::Connect {
                client, v5, clean, expiry_s, will
            }
        ),
        1 => (client.clone(), any::<bool>())
            .prop_map(|(client, proper)| Step::Close { client, proper }),
        12 => (client.clone(), packet()).prop_map(|(client, packet)| Step::Send {
            client, packet
        }),
        1 => (client, prop::collection::vec(any::<u8>(), 0..30))
            .prop_map(|(client, bytes)| Step::Bytes { client, bytes }),
        1 => (0..2usize).prop_map(|at| Step::Link { at }),
        2 => (0..2usize, any::<bool>()).prop_map(|(at, ack)| Step::Receive { at, ack }),
        1 => (0..3000u64).prop_map(|ms| Step::Pass { ms }),
    ]
}

struct World {
    core: Core,
    now: u64,
    clients: [Option<(SubscriberId, u64, Version)>; 3],
    links: [Option<SubscriberId>; 2],
}

impl World {
    fn new() -> World {
        let limits = Limits {
            queue_messages_max: 4,
            queue_bytes_max: 1000,
            inflight_max: 2,
            receive_max: 3,
            retained_messages_max: 13,
            ..Limits::default()
        };
        let config = BrokerConfig {
            limits,
            ..BrokerConfig::default()
        };
        let core = Core::new(Arc::new(config));
        World {
            core,
            now: 0,
            clients: [None; 3],
            links: [None; 2],
        }
    }

    fn close(&mut self, client: usize, how: Goodbye) {
        if let Some((id, epoch, _)) = self.clients[client].take() {
            self.core.on_close(id, epoch, how, self.now);
        }
    }

    fn feed(&mut self, client: usize, bytes: &[u8]) {
        let Some((id, epoch, version)) = self.clients[client] else {
            return;
        };
        let mut out = Vec::new();
        let progress = self.core.on_bytes(
            id,
            epoch,
            &Bytes::copy_from_slice(bytes),
            self.now,
            &mut out,
        );
        assert!(progress.used <= bytes.len());
        self.core.fill(id, epoch, self.now, 1000, &mut out);
        let mut rest = &out[..];
        while !rest.is_empty() {
            let (_, used) = Packet::decode(version, rest)
                .expect("well made")
                .expect("complete");
            rest = &rest[used..];
        }
        if let Next::Close(_, how) = progress.next {
            self.close(client, how);
        }
    }

    fn connect(&mut self, client: usize, mut connect: Connect) {
        connect.client_id = format!("c{client}");
        let version = connect.version;
        // the connection before it hears of the takeover later, or never
        let admission = self.core.on_connect(connect, Arc::default(), self.now);
        let accepted = admission.accepted.expect("room for all");
        self.clients[client] = Some((accepted.id, accepted.epoch, version));
    }

    /// Opens a link, or closes it.
    fn link(&mut self, at: usize) {
        if let Some(id) = self.links[at].take() {
            return self.core.close_link(id);
        }
        let options = LinkOptions {
            policy: [LinkPolicy::Block, LinkPolicy::DropOldest][at],
            ack_after_link: true,
            queue_messages_max: 2,
            ..LinkOptions::default()
        };
        let door = || Arc::new(Door::default());
        let id = self.core.open_link(options, door(), door()).expect("runs");
        self.core
            .link_subscribe(id, "a/#", QoS::ExactlyOnce, self.now);
        self.links[at] = Some(id);
    }

    fn receive(&mut self, at: usize, ack: bool) {
        let Some(id) = self.links[at] else { return };
        let mut taken = Vec::new();
        self.core.link_take(id, 2, self.now, &mut taken);
        for (_, number) in taken {
            if let (true, Some(number)) = (ack, number) {
                self.core.link_ack(id, number);
            }
        }
    }

    fn run(&mut self, step: Step) {
        match step {
            Step::Connect {
                client,
                v5,
                clean,
                expiry_s,
                will,
            } => {
                let version = [Version::V311, Version::V5][usize::from(v5)];
                let will = will.then(|| Will {
                    topic: "a/b".into(),
                    ..Will::default()
                });
                let mut connect = Connect {
                    clean,
                    will,
                    ..Connect::new(version, "")
                };
                connect
                    .properties
                    .push(Property::SessionExpiryInterval(expiry_s));
                self.connect(client, connect);
            }
            Step::Close {
                client,
                proper: true,
            } => self.close(client, Goodbye::Proper),
            Step::Close {
                client,
                proper: false,
            } => self.close(client, Goodbye::Abrupt),
            Step::Send { client, packet } => {
                let Some((_, _, version)) = self.clients[client] else {
                    return;
                };
                let mut bytes = Vec::new();
                if packet.encode(version, &mut bytes).is_ok() {
                    self.feed(client, &bytes);
                }
            }
            Step::Bytes { client, bytes } => self.feed(client, &bytes),
            Step::Link { at } => self.link(at),
            Step::Receive { at, ack } => self.receive(at, ack),
            Step::Pass { ms } => {
                self.now += ms;
                self.core.tick(self.now);
            }
        }
        self.core.take_knocks();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn nothing_clients_do_breaks_the_core(steps in prop::collection::vec(step(), 1..120)) {
        let mut world = World::new();
        for step in steps {
            world.run(step);
            let stats = world.core.snapshot();
            prop_assert!(stats.retained_now <= 13);
            prop_assert!(stats.connections_now <= 3);
        }
        for client in 0..3 {
            world.close(client, Goodbye::Proper);
        }
        for link in world.links.into_iter().flatten() {
            world.core.close_link(link);
        }
        // a connection that was taken over and one whose session ended leave nothing behind
        world.core.tick(world.now + 10 * 24 * 3600 * 1000);
        let stats = world.core.snapshot();
        prop_assert_eq!(stats.connections_now, 0);
        prop_assert_eq!(stats.sessions_now, 0);
        prop_assert_eq!(stats.subscriptions_now, 0);
        prop_assert_eq!(stats.links_now, 0);
        prop_assert!(world.core.slots.iter().all(Option::is_none));
    }
}
