//! A publisher and a subscriber with sessions, connections that are cut at any moment, bytes that
//! are lost with them: at QoS 1 all arrives, at QoS 2 all arrives once, both in order.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use bytes::Bytes;
use proptest::prelude::*;
use rekuiper_mqtt_codec::*;

use super::Core;
use crate::message::SubscriberId;
use crate::{BrokerConfig, Limits};

const V: Version = Version::V311;

#[derive(Clone, Copy, Debug)]
enum Step {
    /// The publisher sends a message; with `deaf` it never sees the answer
    Publish {
        qos2: bool,
        deaf: bool,
    },
    PublisherReturns,
    /// The subscriber takes what there is and answers; with `mute` its answers are lost
    Take {
        budget: usize,
        mute: bool,
    },
    /// What was sent to the subscriber is lost with its connection
    SubscriberReturns {
        lose: bool,
    },
}

struct Outgoing {
    id: u16,
    number: u32,
    qos: QoS,
    released: bool,
}

/// What both clients know by themselves, independent of the broker.
struct World {
    core: Core,
    publisher: (SubscriberId, u64),
    subscriber: (SubscriberId, u64),
    unsettled: VecDeque<Outgoing>,
    deaf: bool,
    numbers: u32,
    /// QoS 2 identifiers the subscriber has received and not seen released
    held: BTreeSet<u16>,
    mute: bool,
    got: Vec<(QoS, u32)>,
}

fn connect(core: &mut Core, name: &str) -> (SubscriberId, u64) {
    let connect = Connect {
        clean: false,
        ..Connect::new(V, name)
    };
    let accepted = core
        .on_connect(connect, Arc::default(), 0)
        .accepted
        .expect("let in");
    (accepted.id, accepted.epoch)
}

fn packets(mut bytes: &[u8]) -> Vec<Packet> {
    let mut found = Vec::new();
    while let Some((packet, used)) = Packet::decode(V, bytes).expect("well made") {
        found.push(packet);
        bytes = &bytes[used..];
    }
    found
}

impl World {
    fn new() -> World {
        let limits = Limits {
            inflight_max: 3,
            receive_max: 4,
            ..Limits::default()
        };
        let mut core = Core::new(Arc::new(BrokerConfig {
            limits,
            ..BrokerConfig::default()
        }));
        let publisher = connect(&mut core, "publisher");
        let subscriber = connect(&mut core, "subscriber");
        let mut world = World {
            core,
            publisher,
            subscriber,
            unsettled: VecDeque::new(),
            deaf: false,
            numbers: 0,
            held: BTreeSet::new(),
            mute: false,
            got: Vec::new(),
        };
        let filters = vec![SubscribeFilter::new("t", QoS::ExactlyOnce)];
        let subscribe = Subscribe {
            packet_id: 1,
            filters,
            ..Subscribe::default()
        };
        world.feed(world.subscriber, &Packet::Subscribe(subscribe));
        world
    }

    fn feed(&mut self, who: (SubscriberId, u64), packet: &Packet) -> Vec<Packet> {
        let (mut bytes, mut out) = (Vec::new(), Vec::new());
        packet.encode(V, &mut bytes).expect("valid");
        let used = self
            .core
            .on_bytes(who.0, who.1, &Bytes::from(bytes), 0, &mut out)
            .used;
        assert!(used > 0, "{packet:?} was not taken");
        packets(&out)
    }

    fn send(&mut self, at: usize, dup: bool) {
        let Outgoing {
            id,
            number,
            qos,
            released,
        } = self.unsettled[at];
        let packet = match released {
            true => Packet::PubRel(Ack::new(id, ReasonCode::SUCCESS)),
            false => Packet::Publish(Publish {
                topic: "t".into(),
                packet_id: Some(id),
                qos,
                dup,
                payload: number.to_string().into(),
                ..Publish::default()
            }),
        };
        let answers = self.feed(self.publisher, &packet);
        if self.deaf {
            return;
        }
        for answer in answers {
            match answer {
                Packet::PubAck(ack) | Packet::PubComp(ack) => {
                    self.unsettled.retain(|o| o.id != ack.packet_id);
                }
                Packet::PubRec(ack) => {
                    let at = self.unsettled.iter().position(|o| o.id == ack.packet_id);
                    let at = at.expect("it was sent");
                    self.unsettled[at].released = true;
                    self.send(at, false);
                }
                other => panic!("{other:?} for a publisher"),
            }
        }
    }

    fn publish(&mut self, qos2: bool) {
        self.numbers += 1;
        let qos = if qos2 {
            QoS::ExactlyOnce
        } else {
            QoS::AtLeastOnce
        };
        let id = (1..)
            .find(|id| self.unsettled.iter().all(|o| o.id != *id))
            .expect("free");
        let number = self.numbers;
        self.unsettled.push_back(Outgoing {
            id,
            number,
            qos,
            released: false,
        });
        self.send(self.unsettled.len() - 1, false);
    }

    fn publisher_returns(&mut self) {
        self.publisher = connect(&mut self.core, "publisher");
        self.deaf = false;
        let ids: Vec<u16> = self.unsettled.iter().map(|o| o.id).collect();
        for id in ids {
            let at = self
                .unsettled
                .iter()
                .position(|o| o.id == id)
                .expect("unsettled");
            self.send(at, true);
        }
    }

    fn fill(&mut self, budget: usize) -> Vec<Packet> {
        let mut out = Vec::new();
        self.core
            .fill(self.subscriber.0, self.subscriber.1, 0, budget, &mut out);
        packets(&out)
    }

    /// The subscriber handles what it is sent; whether there was anything.
    fn take(&mut self, budget: usize) -> bool {
        let mut todo = VecDeque::from(self.fill(budget));
        let any = !todo.is_empty();
        while let Some(packet) = todo.pop_front() {
            let answer = match packet {
                Packet::Publish(p) => {
                    let id = p.packet_id.expect("QoS 1 or 2");
                    let number = String::from_utf8_lossy(&p.payload).parse().expect("number");
                    if p.qos == QoS::AtLeastOnce || self.held.insert(id) {
                        self.got.push((p.qos, number));
                    }
                    let ack = Ack::new(id, ReasonCode::SUCCESS);
                    match p.qos {
                        QoS::ExactlyOnce => Packet::PubRec(ack),
                        _ => Packet::PubAck(ack),
                    }
                }
                Packet::PubRel(ack) => {
                    self.held.remove(&ack.packet_id);
                    Packet::PubComp(ack)
                }
                other => panic!("{other:?} for a subscriber"),
            };
            if !self.mute {
                todo.extend(self.feed(self.subscriber, &answer));
            }
        }
        any
    }

    fn subscriber_returns(&mut self, lose: bool) {
        if lose {
            self.fill(10_000);
        }
        self.mute = false;
        self.subscriber = connect(&mut self.core, "subscriber");
    }

    fn run(&mut self, step: Step) {
        match step {
            // a client that hears nothing stops sending sooner or later
            Step::Publish { .. } if self.deaf => {}
            Step::Publish { qos2, deaf } => {
                self.deaf = deaf;
                self.publish(qos2);
            }
            Step::PublisherReturns => self.publisher_returns(),
            Step::Take { .. } if self.mute => {}
            Step::Take { budget, mute } => {
                self.mute = mute;
                self.take(budget);
            }
            Step::SubscriberReturns { lose } => self.subscriber_returns(lose),
        }
        self.core.take_knocks();
    }
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (any::<bool>(), prop::bool::weighted(0.3))
            .prop_map(|(qos2, deaf)| Step::Publish { qos2, deaf }),
        1 => Just(Step::PublisherReturns),
        2 => (1..60usize, prop::bool::weighted(0.3))
            .prop_map(|(budget, mute)| Step::Take { budget, mute }),
        1 => any::<bool>().prop_map(|lose| Step::SubscriberReturns { lose }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn nothing_is_lost_and_qos2_comes_once(steps in prop::collection::vec(step(), 1..80)) {
        let mut world = World::new();
        for step in steps {
            world.run(step);
        }
        world.publisher_returns();
        world.subscriber_returns(false);
        while world.take(10_000) {}
        prop_assert!(world.unsettled.is_empty());
        let numbers = |qos| world.got.iter().filter(move |g| g.0 == qos).map(|g| g.1);
        let once: Vec<u32> = numbers(QoS::ExactlyOnce).collect();
        prop_assert!(once.is_sorted_by(|a, b| a < b), "QoS 2 out of order or twice: {:?}", once);
        let mut seen = BTreeSet::new();
        let first: Vec<u32> = numbers(QoS::AtLeastOnce).filter(|n| seen.insert(*n)).collect();
        prop_assert!(first.is_sorted(), "QoS 1 out of order: {:?}", first);
        prop_assert_eq!(once.len() + first.len(), world.numbers as usize);
    }
}
