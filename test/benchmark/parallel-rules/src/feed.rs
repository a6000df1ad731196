//! The neutral peer: the broker's side of MQTT towards one engine, on a fixed schedule that the
//! engine cannot slow down; what it could not send in time is recorded as lag.

use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use mqttgen::mqtt;

use crate::case;

/// Messages are sent in portions, one each so often.
const TICK: Duration = Duration::from_millis(1);

pub struct Feed {
    pub port: u16,
    subscribed: Arc<AtomicBool>,
    stream: Arc<std::sync::Mutex<Option<TcpStream>>>,
    pub sent: Arc<AtomicU64>,
    pub lag_us: Arc<AtomicU64>,
}

impl Feed {
    pub fn start() -> Result<Feed, String> {
        let listener = TcpListener::bind("127.0.0.1:0").map_err(|e| e.to_string())?;
        let port = listener.local_addr().map_err(|e| e.to_string())?.port();
        let feed = Feed {
            port,
            subscribed: Arc::default(),
            stream: Arc::default(),
            sent: Arc::default(),
            lag_us: Arc::default(),
        };
        let (subscribed, stream) = (feed.subscribed.clone(), feed.stream.clone());
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let (subscribed, stream) = (subscribed.clone(), stream.clone());
                std::thread::spawn(move || serve(client, &subscribed, &stream));
            }
        });
        Ok(feed)
    }

    pub fn is_subscribed(&self) -> bool {
        self.subscribed.load(Relaxed)
    }

    /// Sends messages from number `first` on, `rate` a second for so long, then returns how many.
    pub fn send(&self, topic: &str, first: u64, rate: u64, seconds: u64) -> Result<u64, String> {
        let mut stream = self.connection()?;
        let start = Instant::now();
        let total = rate * seconds;
        let mut sent = 0;
        let mut packet = Vec::new();
        while sent < total {
            let elapsed = start.elapsed();
            let due = (elapsed.as_nanos() as u64 * rate / 1_000_000_000).min(total);
            packet.clear();
            for i in sent..due {
                mqtt::push_publish(&mut packet, 4, topic, case::payload(first + i).as_bytes());
            }
            stream.write_all(&packet).map_err(|e| format!("the engine went away: {e}"))?;
            // how late the last message of the portion left
            let behind = start.elapsed().saturating_sub(elapsed);
            self.lag_us.fetch_max(behind.as_micros() as u64, Relaxed);
            sent = due;
            self.sent.store(sent, Relaxed);
            let next = TICK.saturating_sub(start.elapsed().saturating_sub(elapsed));
            std::thread::sleep(next);
        }
        Ok(sent)
    }

    fn connection(&self) -> Result<TcpStream, String> {
        let stream = self.stream.lock().unwrap_or_else(|e| e.into_inner());
        let stream = stream.as_ref().ok_or("no engine is connected")?;
        stream.try_clone().map_err(|e| e.to_string())
    }
}

/// Answers what a client asks for; the subscriber's connection is kept for sending.
fn serve(
    mut client: TcpStream,
    subscribed: &AtomicBool,
    keep: &std::sync::Mutex<Option<TcpStream>>,
) -> Option<()> {
    let mut out = client.try_clone().ok()?;
    let mut level = 4;
    while let Some(packet) = mqtt::read_packet(&mut client).ok()? {
        match packet.kind {
            mqtt::CONNECT => {
                level = mqtt::connect_level(&packet.body).ok()?;
                out.write_all(&mqtt::connack(level)).ok()?;
            }
            mqtt::SUBSCRIBE => {
                let (id, filters) = mqtt::filters(level, &packet.body, true).ok()?;
                *keep.lock().ok()? = Some(out.try_clone().ok()?);
                out.write_all(&mqtt::suback(level, id, filters.len())).ok()?;
                subscribed.store(true, Relaxed);
            }
            mqtt::PINGREQ => out.write_all(&mqtt::PINGRESP_BYTES).ok()?,
            mqtt::DISCONNECT => return None,
            _ => {}
        }
    }
    None
}
