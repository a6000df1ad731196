//! The engine under test: a process of its own with folders of its own, spoken to over REST.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use iotrunner::children::{self, Owned};
use iotrunner::http;

pub struct Engine {
    pub process: Owned,
    pub rest: u16,
    pub base: PathBuf,
}

const CONFIG: &str = "basic:\n  consoleLog: true\n  fileLog: false\n  restIp: 127.0.0.1\n\
                      rule:\n  qos: 0\nstore:\n  type: sqlite\n";

impl Engine {
    pub fn start(program: &Path, core: Option<usize>, base: &Path) -> Result<Engine, String> {
        for folder in ["etc", "data", "log", "plugins", "out"] {
            let path = base.join(folder);
            fs::create_dir_all(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        }
        let say = |e: std::io::Error| format!("{}: {e}", base.display());
        fs::write(base.join("etc/kuiper.yaml"), CONFIG).map_err(say)?;
        let log = fs::File::create(base.join("engine.log")).map_err(say)?;
        let ports = [children::free_port()?, children::free_port()?, children::free_port()?];
        let mut command = children::command(&program.to_string_lossy(), core, None);
        command
            .env("KuiperBaseKey", base)
            .env("KUIPER__BASIC__RESTPORT", ports[0].to_string())
            .env("KUIPER__BASIC__RESTIP", "127.0.0.1")
            .env("KUIPER__BASIC__PORT", ports[1].to_string())
            .env("KUIPER__SOURCE__HTTPSERVERIP", "127.0.0.1")
            .env("KUIPER__SOURCE__HTTPSERVERPORT", ports[2].to_string())
            .current_dir(base)
            .stdout(Stdio::from(log.try_clone().map_err(say)?))
            .stderr(Stdio::from(log));
        let process = Owned::spawn("kuiperd", &mut command)?;
        let mut engine = Engine { process, rest: ports[0], base: base.to_owned() };
        let deadline = Instant::now() + Duration::from_secs(20);
        while http::request(engine.rest, "GET", "/ping", "").is_err() {
            engine.process.check()?;
            if Instant::now() > deadline {
                return Err("the engine does not answer /ping".into());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(engine)
    }

    /// The shared stream that all rules read, from the peer at `port`.
    pub fn stream(&self, port: u16) -> Result<(), String> {
        let conf = serde_json::json!({
            "server": format!("tcp://127.0.0.1:{port}"), "qos": 0, "protocolVersion": "3.1.1",
        });
        let path = "/metadata/sources/mqtt/confKeys/bench";
        http::expect_ok(self.rest, "PUT", path, &conf.to_string())?;
        let sql = "CREATE STREAM telem () WITH (DATASOURCE=\"bench/telemetry\", FORMAT=\"json\", \
                   TYPE=\"mqtt\", CONF_KEY=\"bench\", SHARED=\"true\")";
        let body = serde_json::json!({ "sql": sql });
        http::expect_ok(self.rest, "POST", "/streams", &body.to_string()).map(|_| ())
    }

    /// Posts all bodies to `/rules` over `connections` connections that stay open; seconds it took.
    pub fn create(&self, bodies: &[String], connections: usize) -> Result<f64, String> {
        let start = Instant::now();
        let share = bodies.len().div_ceil(connections.max(1)).max(1);
        std::thread::scope(|scope| {
            let workers: Vec<_> = bodies
                .chunks(share)
                .map(|part| scope.spawn(move || post_all(self.rest, part)))
                .collect();
            workers.into_iter().try_for_each(|w| match w.join() {
                Ok(done) => done,
                Err(_) => Err("a thread that creates rules ended by a panic".into()),
            })
        })?;
        Ok(start.elapsed().as_secs_f64())
    }
}

/// One connection, one request after the other.
fn post_all(port: u16, bodies: &[String]) -> Result<(), String> {
    let fail = |e: std::io::Error| format!("POST /rules: {e}");
    let mut stream = TcpStream::connect(("127.0.0.1", port)).map_err(fail)?;
    stream.set_nodelay(true).map_err(fail)?;
    stream.set_read_timeout(Some(Duration::from_secs(60))).map_err(fail)?;
    let mut answer = Vec::new();
    for body in bodies {
        let request = format!(
            "POST /rules HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            body.len()
        );
        stream.write_all(request.as_bytes()).map_err(fail)?;
        answer.clear();
        let (status, text) = read_answer(&mut stream, &mut answer).map_err(fail)?;
        if status != 201 {
            return Err(format!("POST /rules answered {status}: {text}"));
        }
    }
    Ok(())
}

fn read_answer(stream: &mut TcpStream, buf: &mut Vec<u8>) -> std::io::Result<(u16, String)> {
    let mut part = [0u8; 4096];
    loop {
        let n = stream.read(&mut part)?;
        if n == 0 {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        }
        buf.extend_from_slice(&part[..n]);
        let text = String::from_utf8_lossy(buf);
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|l| {
            let (key, value) = l.split_once(':')?;
            key.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
        });
        let whole = match length {
            Some(length) => body.len() >= length,
            None => body.ends_with("0\r\n\r\n"),
        };
        if whole {
            let status = head.split(' ').nth(1).and_then(|s| s.parse().ok()).unwrap_or(0);
            return Ok((status, body.to_owned()));
        }
    }
}
