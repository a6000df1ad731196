//! The simulated fleet: devices that publish JSON to the broker over TCP, on a fixed schedule.
//!
//! Devices share connections, as behind gateways. What message number `id` holds is a function of
//! `id`, so the proof knows every value without keeping any.

use std::io::Write;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::sync_channel;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use rekuiper_mqtt_codec::publish::{self, PublishParts};
use rekuiper_mqtt_codec::{Connect, Disconnect, Packet, QoS, Version};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval_at, timeout};

use super::options::Options;

const VERSION: Version = Version::V311;
/// Each connection sends what is due this often.
const TICK: Duration = Duration::from_millis(20);
/// The broker answers within this time.
const ANSWER: Duration = Duration::from_secs(10);
/// What the sockets hold is read within this time, even when far too much was sent.
const GOODBYE: Duration = Duration::from_secs(300);
/// Most messages of one write; what is due beyond it goes with the next.
const WRITE_MESSAGES_MAX: u64 = 2_048;
const FIRST_TS: u64 = 1_760_000_000_000;

/// Tenths of a degree: 139 of every 150 messages are above 21.0.
pub fn temp_tenths(id: u64) -> u64 {
    200 + id * 7 % 150
}

pub fn speed_tenths(id: u64) -> u64 {
    100 + id * 13 % 800
}

/// Whether the rule `hot` lets it pass.
pub fn passes(id: u64) -> bool {
    temp_tenths(id) > 210
}

/// How many of the first `sent` messages pass.
pub fn passing(sent: u64) -> u64 {
    let rest = (0..sent % 150).filter(|id| passes(*id)).count() as u64;
    sent / 150 * 139 + rest
}

fn payload(out: &mut Vec<u8>, id: u64, device: u64) {
    let (temp, speed) = (temp_tenths(id), speed_tenths(id));
    out.clear();
    // writing to memory does not fail
    let _ = write!(
        out,
        "{{\"id\":{id},\"device\":\"dev-{device:05}\",\"ts\":{},\"temp\":{}.{},\
         \"humidity\":{}.5,\"speed\":{}.{},\"status\":\"ok\",\
         \"line\":{{\"site\":\"site-{}\",\"cell\":{}}}}}",
        FIRST_TS + id,
        temp / 10,
        temp % 10,
        40 + id % 20,
        speed / 10,
        speed % 10,
        device % 4,
        device % 9
    );
}

struct Shared {
    stop: AtomicBool,
    /// The next message's number, and so how many there are.
    next_id: AtomicU64,
}

pub struct Fleet {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<Result<(), String>>>,
    place: Option<PathBuf>,
}

impl Fleet {
    /// Begins to send.
    pub fn start(broker: SocketAddr, options: &Options) -> Result<Fleet, String> {
        let shared = Arc::new(Shared { stop: AtomicBool::new(false), next_id: AtomicU64::new(0) });
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| format!("the fleet cannot start: {e}"))?;
        let (tell, told) = sync_channel(1);
        let (shares, options) = (shared.clone(), options.clone());
        let work = move || {
            let _ = tell.send(std::fs::read_link("/proc/thread-self").ok());
            runtime.block_on(drive(broker, options, shares))
        };
        let thread = std::thread::Builder::new().name("fleet".into()).spawn(work);
        let thread = thread.map_err(|e| format!("the fleet cannot start: {e}"))?;
        let place = told.recv().ok().flatten().map(|p| PathBuf::from("/proc").join(p));
        Ok(Fleet { shared, thread: Some(thread), place })
    }

    /// Its thread below `/proc`, where there is that.
    pub fn thread(&self) -> Option<PathBuf> {
        self.place.clone()
    }

    pub fn sent(&self) -> u64 {
        self.shared.next_id.load(Relaxed)
    }

    /// An error once the fleet has ended by itself.
    pub fn check(&mut self) -> Result<(), String> {
        if !self.thread.as_ref().is_some_and(|t| t.is_finished()) {
            return Ok(());
        }
        self.finish().and(Err("the fleet ended before it was asked to".into()))
    }

    /// Ends it; the broker has read everything when this returns. How many messages there were.
    pub fn finish(&mut self) -> Result<u64, String> {
        self.shared.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.join().map_err(|_| "the fleet ended by a panic; this is a bug of ours")??;
        }
        Ok(self.sent())
    }
}

impl Drop for Fleet {
    fn drop(&mut self) {
        let _ = self.finish();
    }
}

async fn drive(broker: SocketAddr, options: Options, shared: Arc<Shared>) -> Result<(), String> {
    let mut gateways = Vec::new();
    for number in 0..options.connections {
        gateways.push(Gateway::connect(broker, number, &options, shared.clone()).await?);
    }
    let start = Instant::now();
    let mut running: JoinSet<Result<(), String>> = JoinSet::new();
    for gateway in gateways {
        running.spawn(gateway.run(start));
    }
    while let Some(ended) = running.join_next().await {
        let ended = ended.unwrap_or_else(|e| Err(format!("a gateway ended: {e}")));
        if ended.is_err() {
            // the others end in good order
            shared.stop.store(true, Relaxed);
            running.join_all().await;
            return ended;
        }
    }
    Ok(())
}

/// One connection and the devices behind it.
struct Gateway {
    number: u64,
    /// Messages a second of this connection.
    rate: f64,
    /// Part of a message by which this one is ahead, so that not all send at the same moment.
    phase: f64,
    topics: Vec<(u64, String)>,
    stream: TcpStream,
    shared: Arc<Shared>,
}

impl Gateway {
    async fn connect(
        broker: SocketAddr,
        number: u64,
        options: &Options,
        shared: Arc<Shared>,
    ) -> Result<Gateway, String> {
        let failed = |what: String| format!("device connection {number} to {broker}: {what}");
        let work = async {
            let mut stream = TcpStream::connect(broker).await.map_err(|e| e.to_string())?;
            stream.set_nodelay(true).map_err(|e| e.to_string())?;
            let mut hello = Connect::new(VERSION, format!("gateway-{number}"));
            hello.keep_alive_s = 0;
            let mut wire = Vec::new();
            Packet::Connect(hello).encode(VERSION, &mut wire).map_err(|e| e.to_string())?;
            stream.write_all(&wire).await.map_err(|e| e.to_string())?;
            let mut answer = [0; 4];
            stream.read_exact(&mut answer).await.map_err(|e| e.to_string())?;
            match Packet::decode(VERSION, &answer) {
                Ok(Some((Packet::ConnAck(ack), _))) if ack.reason.0 == 0 => Ok(stream),
                other => Err(format!("refused: {other:?}")),
            }
        };
        let stream = timeout(ANSWER, work).await;
        let stream = stream.unwrap_or_else(|_| Err("no answer".into())).map_err(failed)?;
        let devices = (number..options.devices).step_by(options.connections as usize);
        Ok(Gateway {
            number,
            rate: options.rate as f64 / options.connections as f64,
            phase: number as f64 / options.connections as f64,
            topics: devices.map(|d| (d, format!("fleet/dev-{d:05}/telemetry"))).collect(),
            stream,
            shared,
        })
    }

    async fn run(mut self, start: Instant) -> Result<(), String> {
        let number = self.number;
        let failed = |e: std::io::Error| format!("device connection {number}: {e}");
        let mut ticks = interval_at(start + TICK.mul_f64(self.phase), TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let (mut sent, mut wire, mut body) = (0, Vec::new(), Vec::new());
        while !self.shared.stop.load(Relaxed) {
            ticks.tick().await;
            let due = (start.elapsed().as_secs_f64() * self.rate + self.phase) as u64;
            let until = due.min(sent + WRITE_MESSAGES_MAX);
            wire.clear();
            while sent < until {
                let (device, topic) = &self.topics[sent as usize % self.topics.len()];
                payload(&mut body, self.shared.next_id.fetch_add(1, Relaxed), *device);
                put(&mut wire, topic, &body)?;
                sent += 1;
            }
            self.stream.write_all(&wire).await.map_err(failed)?;
        }
        self.goodbye().await.map_err(failed)
    }

    /// When the broker closes in answer to DISCONNECT it has read all that came before.
    async fn goodbye(mut self) -> std::io::Result<()> {
        let mut wire = Vec::new();
        let bye = Packet::Disconnect(Disconnect::default());
        bye.encode(VERSION, &mut wire).map_err(std::io::Error::other)?;
        self.stream.write_all(&wire).await?;
        let closed = timeout(GOODBYE, self.stream.read(&mut [0; 16])).await;
        closed.map_err(|_| std::io::Error::other("the broker did not close after DISCONNECT"))??;
        Ok(())
    }
}

fn put(wire: &mut Vec<u8>, topic: &str, payload: &[u8]) -> Result<(), String> {
    let parts = PublishParts {
        topic: topic.as_bytes(),
        packet_id: None,
        qos: QoS::AtMostOnce,
        dup: false,
        retain: false,
        properties: [&[], &[]],
        payload,
    };
    publish::write(wire, VERSION, &parts).map_err(|e| e.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_json_with_the_values_that_the_proof_expects() {
        let mut text = Vec::new();
        for id in [0, 1, 149, 1_234_567_890] {
            payload(&mut text, id, 42);
            let v: serde_json::Value = serde_json::from_slice(&text).unwrap();
            assert_eq!((v["id"].as_u64(), v["device"].as_str()), (Some(id), Some("dev-00042")));
            assert_eq!(v["temp"].as_f64(), Some(temp_tenths(id) as f64 / 10.0));
            assert_eq!(v["speed"].as_f64(), Some(speed_tenths(id) as f64 / 10.0));
        }
        for sent in [0, 1, 150, 151, 1_000] {
            assert_eq!(passing(sent), (0..sent).filter(|id| passes(*id)).count() as u64);
        }
    }
}
