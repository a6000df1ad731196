//! rekuiper and eKuiper: the same REST API, the same SQL, the same file sink.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::json;

use super::{Engine, Setting};
use crate::children::{self, Owned};
use crate::http;
use crate::spec::Spec;

const START_WITHIN: Duration = Duration::from_secs(20);

pub struct Kuiper {
    process: Owned,
    rest: u16,
    /// What `begin` sends: (method, path, body).
    requests: Vec<(&'static str, String, String)>,
    rules: Vec<String>,
    log: PathBuf,
}

impl Kuiper {
    pub fn start(name: &str, program: &Path, setting: &Setting) -> Result<Kuiper, String> {
        let base = setting.work.join("base");
        prepare_base(name, program, setting.home, &base)?;
        let ports = [
            children::free_port()?,
            children::free_port()?,
            children::free_port()?,
        ];
        let log = setting.work.join(format!("{name}.log"));
        let out = fs::File::create(&log).map_err(|e| format!("{}: {e}", log.display()))?;
        let err = out.try_clone().map_err(|e| e.to_string())?;
        let mut command =
            children::command_on(&program.to_string_lossy(), setting.cores, setting.memory);
        command
            .env("KuiperBaseKey", &base)
            .env("KUIPER__BASIC__RESTPORT", ports[0].to_string())
            .env("KUIPER__BASIC__RESTIP", "127.0.0.1")
            .env("KUIPER__BASIC__PORT", ports[1].to_string())
            .env("KUIPER__SOURCE__HTTPSERVERIP", "127.0.0.1")
            .env("KUIPER__SOURCE__HTTPSERVERPORT", ports[2].to_string())
            .env("KUIPER__BASIC__CONSOLELOG", "true")
            .current_dir(&base)
            .stdout(Stdio::from(out))
            .stderr(Stdio::from(err));
        Ok(Kuiper {
            process: Owned::spawn("kuiperd", &mut command)?,
            rest: ports[0],
            requests: requests(setting),
            rules: (0..setting.sinks.len())
                .map(|k| rule_id(setting, k))
                .collect(),
            log,
        })
    }

    fn wait_for_ping(&mut self) -> Result<(), String> {
        let deadline = Instant::now() + START_WITHIN;
        loop {
            self.check()?;
            match http::request(self.rest, "GET", "/ping", "") {
                Ok((200, _)) => return Ok(()),
                Ok((status, text)) => {
                    return Err(format!("GET /ping answered {status}: {text}"));
                }
                Err(_) if Instant::now() < deadline => {
                    std::thread::sleep(Duration::from_millis(25));
                }
                Err(e) => return Err(format!("no answer within {START_WITHIN:?}: {e}")),
            }
        }
    }

    fn log_tail(&self) -> String {
        let text = fs::read(&self.log).unwrap_or_default();
        let text = String::from_utf8_lossy(&text[text.len().saturating_sub(1500)..]).into_owned();
        format!("end of its log:\n{text}")
    }
}

/// etc/, data/, log/ and plugins/ in a temporary folder; etc/ from the program's installation
/// when it has one beside it, with our kuiper.yaml laid over it.
fn prepare_base(name: &str, program: &Path, home: &Path, base: &Path) -> Result<(), String> {
    for folder in ["etc", "data", "log", "plugins"] {
        let path = base.join(folder);
        fs::create_dir_all(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    }
    let installed = program
        .parent()
        .and_then(Path::parent)
        .map(|root| root.join("etc"));
    if let Some(etc) = installed.filter(|etc| name != "rekuiper" && etc.is_dir()) {
        copy_folder(&etc, &base.join("etc"))?;
    }
    let peer = if name == "rekuiper" { "ours" } else { name };
    let from = home.join("peers").join(peer).join("kuiper.yaml");
    fs::copy(&from, base.join("etc/kuiper.yaml"))
        .map(|_| ())
        .map_err(|e| format!("{}: {e}", from.display()))
}

fn copy_folder(from: &Path, to: &Path) -> Result<(), String> {
    let context = |e: std::io::Error| format!("{}: {e}", from.display());
    fs::create_dir_all(to).map_err(context)?;
    for entry in fs::read_dir(from).map_err(context)? {
        let path = entry.map_err(context)?.path();
        let Some(name) = path.file_name() else {
            continue;
        };
        if path.is_dir() {
            copy_folder(&path, &to.join(name))?;
        } else {
            fs::copy(&path, to.join(name)).map_err(context)?;
        }
    }
    Ok(())
}

fn rule_id(setting: &Setting, stream: usize) -> String {
    let id = setting.spec.workload.id();
    match stream {
        0 => id.to_string(),
        _ => format!("{id}-{}", stream + 1),
    }
}

fn requests(setting: &Setting) -> Vec<(&'static str, String, String)> {
    let conf = json!({
        "server": format!("tcp://127.0.0.1:{}", setting.port),
        "qos": 0,
        "protocolVersion": "3.1.1",
    });
    let conf_path = "/metadata/sources/mqtt/confKeys/bench".to_string();
    let mut requests = vec![("PUT", conf_path, conf.to_string())];
    for (k, sink) in setting.sinks.iter().enumerate() {
        let (stream, rule) = texts(setting.spec, k);
        // eKuiper starts the file anew after rollingCount rows, and at every checkInterval.
        let file = json!({
            "path": sink,
            "fileType": "lines",
            "format": "json",
            "sendSingle": true,
            "rollingCount": 2_000_000_000_u64,
            "checkInterval": "24h",
        });
        let rule = json!({
            "id": rule_id(setting, k),
            "sql": rule,
            "actions": [{ "file": file }],
            "options": { "qos": 0 },
        });
        let stream = json!({ "sql": stream });
        requests.push(("POST", "/streams".to_string(), stream.to_string()));
        requests.push(("POST", "/rules".to_string(), rule.to_string()));
    }
    requests
}

/// Stream and rule number `k`: the first are named as in the workload's folder.
fn texts(spec: &Spec, k: usize) -> (String, String) {
    if k == 0 {
        return (spec.stream.clone(), spec.rule.clone());
    }
    let name = format!("telem{}", k + 1);
    let stream = spec
        .stream
        .replace("STREAM telem ", &format!("STREAM {name} "));
    (
        stream,
        spec.rule.replace("FROM telem", &format!("FROM {name}")),
    )
}

impl Engine for Kuiper {
    fn pid(&self) -> u32 {
        self.process.pid()
    }

    fn begin(&mut self) -> Result<(), String> {
        self.wait_for_ping()
            .map_err(|e| format!("{e}; {}", self.log_tail()))?;
        for (method, path, body) in &self.requests {
            http::expect_ok(self.rest, method, path, body)
                .map_err(|e| format!("{e}; {}", self.log_tail()))?;
        }
        Ok(())
    }

    fn check(&mut self) -> Result<(), String> {
        self.process
            .check()
            .map_err(|e| format!("{e}; {}", self.log_tail()))
    }

    /// A stopped rule has closed its file.
    fn finish(&mut self) -> Result<(), String> {
        self.rules.iter().try_for_each(|rule| {
            http::expect_ok(self.rest, "POST", &format!("/rules/{rule}/stop"), "").map(|_| ())
        })
    }

    fn status(&mut self) -> String {
        let of = |rule: &String| {
            let answer = http::request(self.rest, "GET", &format!("/rules/{rule}/status"), "");
            answer.map_or_else(|e| e, |(_, text)| text)
        };
        self.rules.iter().map(of).collect::<Vec<_>>().join(" ")
    }
}
