//! `mqttgen` as a child process: commands to its stdin, events from its stdout.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use mqttgen::workload::{Part, Workload};
use serde_json::Value;

use crate::children::{self, Owned};

pub struct Generator {
    process: Owned,
    events: Receiver<Value>,
}

/// What the generator says at its end.
#[derive(Clone, Debug, Default)]
pub struct Done {
    pub sent: u64,
    pub seconds: f64,
    pub end_ms: u64,
    pub lag_ms_max: f64,
    pub broken: u64,
    pub parts: Vec<Part>,
}

impl Generator {
    pub fn start(program: &Path, core: Option<usize>, args: &[String]) -> Result<Self, String> {
        let mut command = children::command(&program.to_string_lossy(), core, None);
        command
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut process = Owned::spawn("mqttgen", &mut command)?;
        let out = process
            .child()
            .stdout
            .take()
            .ok_or("mqttgen has no stdout")?;
        let (to, events) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if serde_json::from_str(&line).is_ok_and(|event| to.send(event).is_err()) {
                    return;
                }
            }
        });
        Ok(Generator { process, events })
    }

    /// The broker's port is known only now for `load`, the peer's own port only later.
    pub fn load(
        program: &Path,
        core: Option<usize>,
        workload: Workload,
        port: u16,
        rate: u64,
        seconds: f64,
        stamps: Option<&Path>,
    ) -> Result<Self, String> {
        let mut args = vec![
            "load".to_string(),
            "--addr".to_string(),
            format!("127.0.0.1:{port}"),
            "--workload".to_string(),
            workload.id().to_string(),
            "--rate".to_string(),
            rate.to_string(),
            "--seconds".to_string(),
            seconds.to_string(),
        ];
        if let Some(path) = stamps {
            args.extend(["--stamps".to_string(), path.to_string_lossy().into_owned()]);
        }
        let mut generator = Generator::start(program, core, &args)?;
        generator.wait_for("ready", Duration::from_secs(10))?;
        Ok(generator)
    }

    /// The neutral peer and the port it listens on. `rate` 0 is as fast as possible.
    pub fn direct(
        program: &Path,
        core: Option<usize>,
        workload: Workload,
        rate: u64,
        seconds: f64,
        connections: usize,
    ) -> Result<(Self, u16), String> {
        let args = [
            "direct".to_string(),
            "--workload".to_string(),
            workload.id().to_string(),
            "--rate".to_string(),
            rate.to_string(),
            "--seconds".to_string(),
            seconds.to_string(),
            "--connections".to_string(),
            connections.to_string(),
        ];
        let mut generator = Generator::start(program, core, &args)?;
        let event = generator.wait_for("listening", Duration::from_secs(10))?;
        let port = event["port"].as_u64().and_then(|p| u16::try_from(p).ok());
        Ok((generator, port.ok_or("mqttgen named no port")?))
    }

    pub fn pid(&self) -> u32 {
        self.process.pid()
    }

    pub fn tell(&mut self, command: &str) -> Result<(), String> {
        let stdin = self
            .process
            .child()
            .stdin
            .as_mut()
            .ok_or("mqttgen has no stdin")?;
        writeln!(stdin, "{command}").map_err(|e| format!("mqttgen does not listen: {e}"))
    }

    /// The next event, if one comes in time.
    pub fn next(&mut self, wait: Duration) -> Result<Option<Value>, String> {
        match self.events.recv_timeout(wait) {
            Ok(event) => Ok(Some(event)),
            Err(RecvTimeoutError::Timeout) => Ok(None),
            Err(RecvTimeoutError::Disconnected) => {
                self.process.check()?;
                Err("mqttgen closed its output".to_string())
            }
        }
    }

    /// Waits for an event of this name and skips the others.
    pub fn wait_for(&mut self, name: &str, wait: Duration) -> Result<Value, String> {
        let deadline = Instant::now() + wait;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            match self.next(left)? {
                Some(event) if event["event"] == name => return Ok(event),
                Some(event) if event["event"] == "error" => {
                    return Err(format!(
                        "mqttgen: {}",
                        event["text"].as_str().unwrap_or("?")
                    ));
                }
                Some(_) => {}
                None => return Err(format!("mqttgen sent no `{name}` within {wait:?}")),
            }
        }
    }
}

impl Done {
    pub fn from_event(event: &Value) -> Done {
        let int = |value: &Value| value.as_u64().unwrap_or(0);
        let parts = event["parts"]
            .as_array()
            .map(Vec::as_slice)
            .unwrap_or_default();
        Done {
            sent: int(&event["sent"]),
            seconds: event["seconds"].as_f64().unwrap_or(0.0),
            end_ms: int(&event["unix_ms"]),
            lag_ms_max: event["lag_ms_max"].as_f64().unwrap_or(0.0),
            broken: int(&event["broken"]),
            parts: parts
                .iter()
                .map(|p| Part {
                    first: int(&p["first"]),
                    stride: int(&p["stride"]).max(1),
                    count: int(&p["count"]),
                })
                .collect(),
        }
    }
}
