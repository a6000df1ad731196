//! Generator and peer over real sockets: what is reported as sent is what arrives.

use std::collections::HashSet;
use std::io::{BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mqttgen::control::Command;
use mqttgen::report::Events;
use mqttgen::workload::{ID_BASE, Part, Workload};
use mqttgen::{direct, load, mqtt, sink_check};

/// Events as text, to be looked at while they are written.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }

    fn wait_for(&self, word: &str) -> String {
        let deadline = Instant::now() + Duration::from_secs(20);
        while Instant::now() < deadline {
            let text = self.text();
            if text.contains(word) {
                return text;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        panic!("no {word} in {}", self.text());
    }
}

struct Running {
    commands: Sender<Command>,
    thread: JoinHandle<Vec<Part>>,
    log: Log,
    addr: String,
}

fn peer(options: direct::Options) -> Running {
    let (commands, from) = channel();
    let log = Log::default();
    let events = Arc::new(Events::to(Box::new(log.clone())));
    let thread = std::thread::spawn(move || direct::run(&options, &from, &events).unwrap());
    let text = log.wait_for("listening");
    let port: String = text.chars().filter(char::is_ascii_digit).collect();
    Running {
        commands,
        thread,
        log,
        addr: format!("127.0.0.1:{port}"),
    }
}

fn options(workload: Workload) -> direct::Options {
    direct::Options {
        workload,
        port: 0,
        connections: 1,
        rate: 0,
        seconds: 20.0,
        count: 50_000,
        start_after_subscribe: None,
    }
}

#[test]
fn a_reader_receives_what_the_peer_says_it_sent_in_both_protocols() {
    for level in [4, 5] {
        let peer = peer(options(Workload::W4));
        let addr = peer.addr.clone();
        let reader = std::thread::spawn(move || {
            sink_check::run(&addr, Workload::W4, level, Duration::from_secs(10)).unwrap()
        });
        peer.log.wait_for("subscribed");
        peer.commands.send(Command::Probe(7)).unwrap();
        peer.log.wait_for("probed");
        peer.commands.send(Command::Start).unwrap();
        peer.log.wait_for("done");
        peer.commands.send(Command::Quit).unwrap();
        let parts = peer.thread.join().unwrap();
        assert_eq!(
            parts,
            [Part {
                first: 0,
                stride: 1,
                count: 50_000
            }]
        );
        assert_eq!(reader.join().unwrap().messages, 50_007);
    }
}

#[test]
fn two_connections_get_messages_of_their_own_by_themselves() {
    let peer = peer(direct::Options {
        connections: 2,
        start_after_subscribe: Some(Duration::from_millis(20)),
        ..options(Workload::W1)
    });
    let readers = [0, 1].map(|_| {
        let addr = peer.addr.clone();
        std::thread::spawn(move || {
            sink_check::run(&addr, Workload::W1, 4, Duration::from_secs(10)).unwrap()
        })
    });
    peer.log.wait_for("done");
    peer.commands.send(Command::Quit).unwrap();
    let parts = peer.thread.join().unwrap();
    assert_eq!(
        parts.iter().map(|part| part.count).collect::<Vec<_>>(),
        [25_000, 25_000]
    );
    assert!(!parts[0].holds(parts[1].first));
    for reader in readers {
        assert_eq!(reader.join().unwrap().messages, 25_000);
    }
}

#[test]
fn pings_are_answered_while_the_peer_pushes() {
    let peer = peer(direct::Options {
        count: 0,
        seconds: 1.0,
        ..options(Workload::W1)
    });
    let mut stream = TcpStream::connect(&peer.addr).unwrap();
    stream.write_all(&mqtt::connect(4, "pinger")).unwrap();
    stream
        .write_all(&mqtt::subscribe(4, 1, Workload::W1.filter()))
        .unwrap();
    peer.log.wait_for("subscribed");
    peer.commands.send(Command::Start).unwrap();
    let mut from = BufReader::with_capacity(1 << 18, stream.try_clone().unwrap());
    let (mut pings, mut seen) = (0, 0);
    while let Some(packet) = mqtt::read_packet(&mut from).unwrap() {
        seen += u32::from(packet.kind == mqtt::PUBLISH);
        pings += u32::from(packet.kind == 13);
        if seen == 10_000 {
            stream.write_all(&[0xc0, 0]).unwrap();
        }
        if pings == 1 {
            break;
        }
    }
    assert_eq!(pings, 1);
    assert!(
        !peer.log.text().contains("done"),
        "the answer came only after the push"
    );
    // Going away in the middle must end the push, not hang it.
    drop((from, stream));
    assert!(peer.log.wait_for("done").contains("\"broken\":1"));
    peer.commands.send(Command::Quit).unwrap();
    peer.thread.join().unwrap();
}

/// A broker that only listens: takes every connection and hands its packets over.
fn listener() -> (String, JoinHandle<HashSet<u64>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = listener.local_addr().unwrap().to_string();
    let thread = std::thread::spawn(move || {
        let connections: Vec<_> = (0..8)
            .map(|_| {
                let (mut stream, _) = listener.accept().unwrap();
                stream.write_all(&mqtt::connack(4)).unwrap();
                std::thread::spawn(move || ids(&mut BufReader::new(stream)))
            })
            .collect();
        let mut all = HashSet::new();
        for connection in connections {
            for id in connection.join().unwrap() {
                assert!(all.insert(id), "id {id} twice");
            }
        }
        all
    });
    (addr, thread)
}

fn ids(from: &mut BufReader<TcpStream>) -> Vec<u64> {
    let mut list = Vec::new();
    while let Some(packet) = mqtt::read_packet(from).unwrap() {
        if packet.kind == mqtt::PUBLISH {
            let text = String::from_utf8(packet.body[2..].to_vec()).unwrap();
            let id = text
                .split("\"id\":")
                .nth(1)
                .and_then(|rest| rest.split(',').next());
            list.push(id.unwrap().parse().unwrap());
        }
    }
    list
}

#[test]
fn the_generator_keeps_its_schedule_and_sends_every_id_once() {
    let (addr, broker) = listener();
    let options = load::Options {
        workload: Workload::W1,
        addr,
        connections: 8,
        threads: 4,
        rate: 20_000,
        seconds: 1.0,
        stamps: None,
    };
    let (commands, from) = channel();
    let log = Log::default();
    let events = Arc::new(Events::to(Box::new(log.clone())));
    commands.send(Command::Start).unwrap();
    commands.send(Command::Quit).unwrap();
    let begin = Instant::now();
    let parts = load::run(&options, &from, &events).unwrap();
    assert!(
        begin.elapsed() >= Duration::from_millis(990),
        "faster than its schedule"
    );
    let ids = broker.join().unwrap();
    assert_eq!(ids.len(), 20_000);
    assert!((0..20_000).all(|i| ids.contains(&(ID_BASE + i))));
    assert!((0..20_000).all(|i| parts.iter().filter(|part| part.holds(i)).count() == 1));
    assert!(log.text().contains("\"lag_ms_max\":"));
}
