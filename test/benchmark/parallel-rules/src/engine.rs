//! The engine under test: a process of its own with folders of its own, spoken to over REST.

use std::fs;
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

    /// Posts all bodies to `/rules` with that many requests under way; seconds it took.
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

/// One request after the other; like eKuiper's, the server closes each connection.
fn post_all(port: u16, bodies: &[String]) -> Result<(), String> {
    bodies.iter().try_for_each(|body| http::expect_ok(port, "POST", "/rules", body).map(|_| ()))
}
