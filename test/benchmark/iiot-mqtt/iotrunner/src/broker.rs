//! A Mosquitto of our own on a free loopback port, and its `$SYS` figures.

use std::net::TcpStream;
use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mqttgen::mqtt;

use crate::children::{self, Owned};

const DROPPED: &str = "$SYS/broker/publish/messages/dropped";

pub struct Broker {
    process: Owned,
    pub port: u16,
    dropped: Arc<AtomicU64>,
}

impl Broker {
    pub fn start(program: &str, core: Option<usize>, work: &Path) -> Result<Broker, String> {
        let port = children::free_port()?;
        let path = work.join("mosquitto.conf");
        let config = format!(
            "listener {port} 127.0.0.1\nallow_anonymous true\npersistence false\n\
             max_queued_messages 4096\nsys_interval 1\nlog_dest none\n"
        );
        std::fs::write(&path, config).map_err(|e| format!("{}: {e}", path.display()))?;
        let mut command = children::command(program, core, None);
        command
            .arg("-c")
            .arg(&path)
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let hint = "install Mosquitto, name it with --broker, or use --modes direct";
        let hinted = |e: String| format!("{e}; {hint}");
        let mut process = Owned::spawn("mosquitto", &mut command).map_err(hinted)?;
        let deadline = Instant::now() + Duration::from_secs(5);
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            process.check().map_err(hinted)?;
            if Instant::now() > deadline {
                return Err(format!("mosquitto does not listen on port {port}"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let dropped = Arc::new(AtomicU64::new(0));
        watch(port, dropped.clone());
        Ok(Broker {
            process,
            port,
            dropped,
        })
    }

    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    /// Messages the broker says it dropped so far (its `$SYS` topic, a second old at most).
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

/// Listens to the `$SYS` topic until the broker goes.
fn watch(port: u16, dropped: Arc<AtomicU64>) {
    std::thread::spawn(move || {
        let _ = listen(port, &dropped);
    });
}

fn listen(port: u16, dropped: &AtomicU64) -> std::io::Result<()> {
    use std::io::Write;
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.write_all(&mqtt::connect(4, "iotrunner-sys"))?;
    stream.write_all(&mqtt::subscribe(4, 1, DROPPED))?;
    while let Some(packet) = mqtt::read_packet(&mut stream)? {
        if packet.kind == mqtt::PUBLISH {
            let text = packet.body.get(2 + DROPPED.len()..).unwrap_or_default();
            if let Ok(n) = String::from_utf8_lossy(text).trim().parse() {
                dropped.store(n, Ordering::Relaxed);
            }
        }
    }
    Ok(())
}
