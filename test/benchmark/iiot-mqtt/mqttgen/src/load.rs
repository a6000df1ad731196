//! The open-loop generator: publishers that send on a fixed schedule, whatever the broker or the
//! engine behind it does. Message `i` is due at `i / rate`; what is late is sent at once and
//! the lateness is reported, never hidden by slowing down.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

use crate::control::Command;
use crate::mqtt;
use crate::report::{Events, Field, unix_ms, unix_ns};
use crate::ring::Ring;
use crate::workload::{Part, Workload};

/// How often a sender looks at its schedule. What falls due in between goes in one write.
const TICK: Duration = Duration::from_millis(1);
const WRITE_BYTES: usize = 64 * 1024;
const LEVEL: u8 = 4;

#[derive(Clone, Debug)]
pub struct Options {
    pub workload: Workload,
    /// `host:port` of the broker.
    pub addr: String,
    pub connections: usize,
    pub threads: usize,
    /// Messages per second over all connections.
    pub rate: u64,
    pub seconds: f64,
    /// Where to write when each message was given to its socket; for latency.
    pub stamps: Option<PathBuf>,
}

/// So many messages from index `first` on, in strides, were given to the socket at `unix_ns`.
struct Stamp {
    first: u64,
    count: u64,
    unix_ns: u64,
}

impl Options {
    pub fn count(&self) -> u64 {
        (self.rate as f64 * self.seconds) as u64
    }
}

struct Publisher {
    stream: TcpStream,
    ring: Ring,
    index: u64,
    goal: u64,
    sent: u64,
    stamps: Vec<Stamp>,
}

/// What the senders tell the reporter.
#[derive(Default)]
struct Progress {
    sent: AtomicU64,
    lag_us_second: AtomicU64,
    lag_us_max: AtomicU64,
    running: AtomicU64,
    broken: AtomicU64,
}

/// Connects, then obeys commands until `quit`. Returns what was sent.
pub fn run(
    options: &Options,
    commands: &Receiver<Command>,
    events: &Arc<Events>,
) -> Result<Vec<Part>, String> {
    if options.connections == 0 || options.threads == 0 || options.rate == 0 {
        return Err("connections, threads and rate must all be above 0".to_string());
    }
    let mut publishers = Vec::new();
    for index in 0..options.connections as u64 {
        let stream = connect(
            &options.addr,
            &format!("mqttgen-{}-{index}", std::process::id()),
        )
        .map_err(|e| format!("cannot connect to the broker at {}: {e}", options.addr))?;
        let stride = options.connections as u64;
        let goal = (options.count() + stride - 1).saturating_sub(index) / stride;
        let ring = Ring::new(options.workload, LEVEL, index, stride);
        publishers.push(Publisher {
            stream,
            ring,
            index,
            goal,
            sent: 0,
            stamps: Vec::new(),
        });
    }
    events.emit(
        "ready",
        &[("connections", Field::Int(options.connections as u64))],
    );
    let (mut probes, mut parts) = (0, Vec::new());
    for command in commands.iter() {
        match command {
            Command::Probe(n) => {
                probe(options.workload, &mut publishers[0].stream, probes, n)
                    .map_err(|e| format!("the broker refused a probe: {e}"))?;
                probes += n;
                events.emit("probed", &[("total", Field::Int(probes))]);
            }
            Command::Start if parts.is_empty() => parts = send(options, events, &mut publishers)?,
            Command::Start => {}
            Command::Quit => break,
        }
    }
    Ok(parts)
}

fn connect(addr: &str, client_id: &str) -> io::Result<TcpStream> {
    let mut stream = TcpStream::connect(addr)?;
    stream.set_nodelay(true)?;
    stream.write_all(&mqtt::connect(LEVEL, client_id))?;
    let mut answer = [0u8; 4];
    stream.read_exact(&mut answer)?;
    if answer != [0x20, 2, 0, 0] {
        let text = format!("CONNACK {answer:?}, expected an accepted connection");
        return Err(io::Error::other(text));
    }
    Ok(stream)
}

fn probe(workload: Workload, stream: &mut TcpStream, from: u64, n: u64) -> io::Result<()> {
    let mut bytes = Vec::new();
    for k in from..from + n {
        let message = workload.probe(k);
        mqtt::push_publish(&mut bytes, LEVEL, &message.topic, &message.payload);
    }
    stream.write_all(&bytes)
}

fn send(
    options: &Options,
    events: &Events,
    publishers: &mut [Publisher],
) -> Result<Vec<Part>, String> {
    let progress = Progress::default();
    let start = Instant::now();
    events.emit("started", &[("unix_ms", Field::Int(unix_ms()))]);
    let share = publishers.len().div_ceil(options.threads);
    progress
        .running
        .store(publishers.len().div_ceil(share) as u64, Ordering::Release);
    thread::scope(|scope| {
        for group in publishers.chunks_mut(share) {
            let progress = &progress;
            scope.spawn(move || {
                if send_group(options, group, start, progress).is_err() {
                    progress.broken.fetch_add(1, Ordering::Relaxed);
                }
                progress.running.fetch_sub(1, Ordering::Release);
            });
        }
        let mut second = 1;
        while progress.running.load(Ordering::Acquire) > 0 {
            thread::sleep(Duration::from_millis(5));
            if start.elapsed() >= Duration::from_secs(second) {
                report_second(events, &progress, second);
                second += 1;
            }
        }
    });
    let stride = publishers.len() as u64;
    let parts: Vec<Part> = publishers
        .iter()
        .map(|p| Part {
            first: p.index,
            stride,
            count: p.sent,
        })
        .collect();
    let took = start.elapsed();
    if let Some(path) = &options.stamps {
        write_stamps(path, publishers)
            .map_err(|e| format!("cannot write the stamps to {}: {e}", path.display()))?;
    }
    report_done(events, &progress, took, &parts);
    Ok(parts)
}

/// A line a write: first index, stride, count, nanoseconds since the epoch.
fn write_stamps(path: &Path, publishers: &[Publisher]) -> io::Result<()> {
    let mut out = io::BufWriter::new(std::fs::File::create(path)?);
    for p in publishers {
        for s in &p.stamps {
            let stride = publishers.len();
            writeln!(out, "{} {stride} {} {}", s.first, s.count, s.unix_ns)?;
        }
    }
    out.flush()
}

fn report_second(events: &Events, progress: &Progress, second: u64) {
    let lag = progress.lag_us_second.swap(0, Ordering::Relaxed);
    events.emit(
        "second",
        &[
            ("second", Field::Int(second)),
            ("sent", Field::Int(progress.sent.load(Ordering::Relaxed))),
            ("lag_ms", Field::Float(lag as f64 / 1e3)),
        ],
    );
}

fn report_done(events: &Events, progress: &Progress, took: Duration, parts: &[Part]) {
    let sent = progress.sent.load(Ordering::Relaxed);
    let lag = progress.lag_us_max.load(Ordering::Relaxed) as f64 / 1e3;
    events.emit(
        "done",
        &[
            ("unix_ms", Field::Int(unix_ms())),
            ("sent", Field::Int(sent)),
            ("seconds", Field::Float(took.as_secs_f64())),
            ("rate", Field::Float(sent as f64 / took.as_secs_f64())),
            ("lag_ms_max", Field::Float(lag)),
            (
                "broken",
                Field::Int(progress.broken.load(Ordering::Relaxed)),
            ),
            ("parts", Field::Parts(parts)),
        ],
    );
}

fn send_group(
    options: &Options,
    group: &mut [Publisher],
    start: Instant,
    progress: &Progress,
) -> io::Result<()> {
    let rate = options.rate as f64;
    let stride = options.connections as f64;
    let mut tick = TICK;
    while group.iter().any(|p| p.sent < p.goal) {
        for p in group.iter_mut() {
            let passed = start.elapsed().as_secs_f64() * rate - p.index as f64;
            let due = if passed < 0.0 {
                0
            } else {
                (passed / stride) as u64 + 1
            }
            .min(p.goal);
            if due <= p.sent {
                continue;
            }
            let oldest_due = (p.sent as f64 * stride + p.index as f64) / rate;
            while p.sent < due {
                let (packets, n) = p.ring.next(due - p.sent, WRITE_BYTES);
                if options.stamps.is_some() {
                    let first = p.index + p.sent * options.connections as u64;
                    p.stamps.push(Stamp {
                        first,
                        count: n,
                        unix_ns: unix_ns(),
                    });
                }
                p.stream.write_all(packets)?;
                p.sent += n;
                progress.sent.fetch_add(n, Ordering::Relaxed);
            }
            let lag = start.elapsed().as_secs_f64() - oldest_due;
            let lag = (lag * 1e6).max(0.0) as u64;
            progress.lag_us_second.fetch_max(lag, Ordering::Relaxed);
            progress.lag_us_max.fetch_max(lag, Ordering::Relaxed);
        }
        if let Some(wait) = tick.checked_sub(start.elapsed()) {
            thread::sleep(wait);
        }
        tick = TICK * (start.elapsed().as_micros() / TICK.as_micros() + 1) as u32;
    }
    Ok(())
}
