//! The neutral peer: speaks the broker's side of MQTT to the engine and pushes ready packets as
//! fast as the socket takes them (or at a rate), so that the engine's own ceiling shows.

use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::control::Command;
use crate::mqtt;
use crate::peer::Peer;
use crate::report::{Events, Field, unix_ms};
use crate::ring::Ring;
use crate::workload::{Part, Workload};

/// One write to the socket: large, because the peer must not be what is measured.
pub const WRITE_BYTES: usize = 256 * 1024;
/// Distance between the first indices of two connections; a multiple of every period, and small
/// enough that twenty connections stay within ten-digit ids.
const PART_DISTANCE: u64 = 390_000_000;
const CONNECTIONS_MAX: usize = 20;

#[derive(Clone, Debug)]
pub struct Options {
    pub workload: Workload,
    /// Port on 127.0.0.1; 0 lets the system choose, the `listening` event tells.
    pub port: u16,
    /// How many subscribed connections take part; the rate is shared between them.
    pub connections: usize,
    /// Messages per second in all; 0 is as fast as the sockets take them.
    pub rate: u64,
    pub seconds: f64,
    /// Stop after so many messages in all; 0 is no limit but time.
    pub count: u64,
    /// Begin so long after the last subscription without waiting for `start`.
    pub start_after_subscribe: Option<Duration>,
}

type Subscribers = Arc<Mutex<Vec<Arc<Peer>>>>;

/// Serves until `quit`. Returns what was pushed (empty when never started).
pub fn run(
    options: &Options,
    commands: &Receiver<Command>,
    events: &Arc<Events>,
) -> Result<Vec<Part>, String> {
    if options.connections == 0 || options.connections > CONNECTIONS_MAX {
        return Err(format!(
            "{} connections: expected 1 to {CONNECTIONS_MAX}",
            options.connections
        ));
    }
    let listener = TcpListener::bind(("127.0.0.1", options.port))
        .map_err(|e| format!("cannot listen on 127.0.0.1:{}: {e}", options.port))?;
    let port = listener.local_addr().map_err(|e| e.to_string())?.port();
    events.emit("listening", &[("port", Field::Int(u64::from(port)))]);
    let subscribers = Subscribers::default();
    accept_loop(
        listener,
        options.workload,
        subscribers.clone(),
        events.clone(),
    );
    let parts = serve_commands(options, commands, events, &subscribers);
    for peer in lock(&subscribers).iter() {
        peer.close();
    }
    Ok(parts)
}

fn serve_commands(
    options: &Options,
    commands: &Receiver<Command>,
    events: &Arc<Events>,
    subscribers: &Subscribers,
) -> Vec<Part> {
    let (mut probes, mut parts) = (0, Vec::new());
    let (mut started, mut complete_since) = (false, None);
    loop {
        let command = commands.recv_timeout(Duration::from_millis(5));
        let complete = live(subscribers, usize::MAX).len() >= options.connections;
        if complete && complete_since.is_none() {
            complete_since = Some(Instant::now());
        }
        let by_itself = options.start_after_subscribe.is_some_and(|wait| {
            !started && complete && complete_since.is_some_and(|since| since.elapsed() >= wait)
        });
        match command {
            Ok(Command::Probe(n)) => {
                probes += probe(options.workload, subscribers, probes, n);
                events.emit("probed", &[("total", Field::Int(probes))]);
            }
            Ok(Command::Quit) | Err(RecvTimeoutError::Disconnected) => return parts,
            Ok(Command::Start) if !started => {
                started = true;
                parts = push(options, events, &live(subscribers, options.connections));
            }
            Err(RecvTimeoutError::Timeout) if by_itself => {
                started = true;
                parts = push(options, events, &live(subscribers, options.connections));
            }
            Ok(Command::Start) | Err(RecvTimeoutError::Timeout) => {}
        }
    }
}

fn lock(subscribers: &Subscribers) -> std::sync::MutexGuard<'_, Vec<Arc<Peer>>> {
    subscribers.lock().unwrap_or_else(PoisonError::into_inner)
}

fn live(subscribers: &Subscribers, most: usize) -> Vec<Arc<Peer>> {
    let mut list = lock(subscribers);
    list.retain(|peer| peer.alive());
    list.iter().take(most).cloned().collect()
}

fn accept_loop(
    listener: TcpListener,
    workload: Workload,
    subscribers: Subscribers,
    events: Arc<Events>,
) {
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (subscribers, events) = (subscribers.clone(), events.clone());
            thread::spawn(move || converse(stream, workload, &subscribers, &events));
        }
    });
}

fn converse(stream: TcpStream, workload: Workload, subscribers: &Subscribers, events: &Events) {
    let (peer, mut from) = match Peer::accept(stream) {
        Ok((peer, from)) => (Arc::new(peer), from),
        Err(error) => {
            let text = format!("handshake failed: {error}");
            return events.emit("error", &[("text", Field::Text(&text))]);
        }
    };
    let mut known = false;
    peer.serve(&mut from, |filter| {
        let ours = filter == workload.filter();
        if ours && !known {
            known = true;
            lock(subscribers).push(peer.clone());
        }
        let level = Field::Int(u64::from(peer.level()));
        let ours = Field::Int(u64::from(ours));
        events.emit(
            "subscribed",
            &[
                ("filter", Field::Text(filter)),
                ("level", level),
                ("ours", ours),
            ],
        );
    });
}

/// Sends `n` probes to each subscriber; returns how many.
fn probe(workload: Workload, subscribers: &Subscribers, from: u64, n: u64) -> u64 {
    let mut sent = 0;
    for peer in live(subscribers, usize::MAX) {
        let mut bytes = Vec::new();
        for k in from + sent..from + sent + n {
            let message = workload.probe(k);
            mqtt::push_publish(&mut bytes, peer.level(), &message.topic, &message.payload);
        }
        if peer.send(&bytes).is_ok() {
            sent += n;
        }
    }
    sent
}

/// The measured part: one thread per connection pushes, this one reports each second.
fn push(options: &Options, events: &Events, peers: &[Arc<Peer>]) -> Vec<Part> {
    if peers.len() < options.connections {
        let text = format!(
            "{} of {} connections subscribed to {}; nothing was sent to the missing ones",
            peers.len(),
            options.connections,
            options.workload.filter()
        );
        events.emit("error", &[("text", Field::Text(&text))]);
    }
    let share = peers.len().max(1) as u64;
    let mut rings: Vec<Ring> = peers
        .iter()
        .zip(0..)
        .map(|(peer, c)| Ring::new(options.workload, peer.level(), c * PART_DISTANCE, 1))
        .collect();
    let sent: Vec<AtomicU64> = peers.iter().map(|_| AtomicU64::new(0)).collect();
    let running = AtomicU64::new(share.min(peers.len() as u64));
    let broken = AtomicU64::new(0);
    let start = Instant::now();
    events.emit("started", &[("unix_ms", Field::Int(unix_ms()))]);
    let mut lag_ms_max = 0f64;
    let total = || sent.iter().map(|n| n.load(Ordering::Relaxed)).sum::<u64>();
    thread::scope(|scope| {
        for ((peer, ring), sent) in peers.iter().zip(&mut rings).zip(&sent) {
            let (running, broken) = (&running, &broken);
            let limits = Limits {
                rate: options.rate / share,
                until: Duration::from_secs_f64(options.seconds.max(0.0)),
                count: if options.count == 0 {
                    u64::MAX
                } else {
                    options.count / share
                },
            };
            scope.spawn(move || {
                if push_one(peer, ring, &limits, start, sent).is_err() {
                    broken.fetch_add(1, Ordering::Relaxed);
                }
                running.fetch_sub(1, Ordering::Release);
            });
        }
        let mut second = 1;
        while running.load(Ordering::Acquire) > 0 {
            thread::sleep(Duration::from_millis(5));
            let late = lag_ms(options, start, total());
            lag_ms_max = late.max(lag_ms_max);
            if start.elapsed() >= Duration::from_secs(second) {
                let n = total();
                let fields = [
                    ("second", Field::Int(second)),
                    ("sent", Field::Int(n)),
                    ("lag_ms", Field::Float(late)),
                ];
                events.emit("second", &fields);
                second += 1;
            }
        }
    });
    let seconds = start.elapsed().as_secs_f64();
    let parts: Vec<Part> = sent
        .iter()
        .zip(0..)
        .map(|(n, c)| Part {
            first: c * PART_DISTANCE,
            stride: 1,
            count: n.load(Ordering::Relaxed),
        })
        .collect();
    events.emit(
        "done",
        &[
            ("unix_ms", Field::Int(unix_ms())),
            ("sent", Field::Int(total())),
            ("seconds", Field::Float(seconds)),
            ("rate", Field::Float(total() as f64 / seconds)),
            ("lag_ms_max", Field::Float(lag_ms_max)),
            ("broken", Field::Int(broken.load(Ordering::Relaxed))),
            ("parts", Field::Parts(&parts)),
        ],
    );
    parts
}

/// How far the schedule is ahead of what was pushed. With no rate there is no schedule.
fn lag_ms(options: &Options, start: Instant, sent: u64) -> f64 {
    if options.rate == 0 {
        return 0.0;
    }
    let due = start.elapsed().as_secs_f64().min(options.seconds) * options.rate as f64;
    ((due - sent as f64) / options.rate as f64 * 1e3).max(0.0)
}

struct Limits {
    rate: u64,
    until: Duration,
    count: u64,
}

fn push_one(
    peer: &Peer,
    ring: &mut Ring,
    limits: &Limits,
    start: Instant,
    sent: &AtomicU64,
) -> std::io::Result<()> {
    let mut done = 0;
    let planned = (limits.until.as_secs_f64() * limits.rate as f64) as u64;
    let goal = if limits.rate == 0 {
        limits.count
    } else {
        limits.count.min(planned)
    };
    while done < goal {
        let passed = start.elapsed();
        let due = if limits.rate == 0 {
            if passed >= limits.until {
                return Ok(());
            }
            goal
        } else {
            goal.min((passed.as_secs_f64() * limits.rate as f64) as u64)
        };
        if due <= done {
            thread::sleep(Duration::from_micros(500));
            continue;
        }
        let (packets, n) = ring.next(due - done, WRITE_BYTES);
        peer.send(packets)?;
        done += n;
        sent.store(done, Ordering::Relaxed);
    }
    Ok(())
}
