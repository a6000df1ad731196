//! The recorded cases of eKuiper's tool (`cases/*.jsonl`), run against our server, which runs in
//! this process, listens on loopback and keeps its things in a folder that is gone afterwards.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use regex::Regex;
use rekuiper_connect::Services;
use rekuiper_flow::EngineConfig;
use rekuiper_rt::Clock;
use rekuiper_server::config::{Config, Env, Place};
use rekuiper_server::engine::flow::FlowEngine;
use rekuiper_server::logging::Log;
use rekuiper_server::{Running, Starter};
use serde_json::Value;
use tokio::runtime::Runtime;

type Names = HashMap<&'static str, String>;

#[test]
fn recorded_cases() {
    let cases = cases();
    assert!(cases.len() >= 45, "only {} cases were found", cases.len());
    for case in &cases {
        assert!(case["steps"].as_array().is_some_and(|s| !s.is_empty()), "{case}");
    }
    let server = Server::start();
    let wrong: Vec<String> = cases
        .iter()
        .enumerate()
        .filter_map(|(n, case)| {
            run(&server, n, case).err().map(|why| format!("{}: {why}", case["name"]))
        })
        .collect();
    assert!(wrong.is_empty(), "{} of {} cases:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
}

fn cases() -> Vec<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let files = std::fs::read_dir(folder).expect("tests/cases");
    let texts = files.map(|f| std::fs::read_to_string(f.unwrap().path()).unwrap());
    let lines: Vec<String> =
        texts.flat_map(|t| t.lines().map(String::from).collect::<Vec<_>>()).collect();
    lines.iter().filter(|l| !l.is_empty()).map(|l| serde_json::from_str(l).expect(l)).collect()
}

/// A server with a folder of its own; both end with it.
struct Server {
    runtime: Runtime,
    running: Option<Running>,
    base: PathBuf,
}

impl Server {
    fn start() -> Self {
        let base = std::env::temp_dir().join(format!("kuiper-cases-{}", std::process::id()));
        for folder in ["etc", "data", "log", "plugins"] {
            std::fs::create_dir_all(base.join(folder)).expect("a folder for the server");
        }
        let settings = [
            ("KUIPER__BASIC__RESTIP", "127.0.0.1"),
            ("KUIPER__BASIC__RESTPORT", "0"),
            ("KUIPER__SOURCE__HTTPSERVERIP", "127.0.0.1"),
            ("KUIPER__SOURCE__HTTPSERVERPORT", "0"),
            ("KUIPER__BASIC__FILELOG", "false"),
            ("KUIPER__BASIC__TIMEZONE", "UTC"),
            ("KUIPER__BASIC__ENABLEPRIVATENET", "true"),
        ];
        let place = Place::Relative(base.clone());
        let config = Config::load(&place, Env::new(&settings)).expect("a configuration");
        let log = Log::new(&config.log, &config.dirs.log);
        let runtime = Runtime::new().expect("a runtime");
        let running = runtime.block_on(async {
            let starter = Starter::open(config, log).await.expect("free ports");
            let data = starter.config.dirs.data.clone();
            let services = Services::new(Clock::Real, base.clone(), data);
            services.private_net.store(true, Ordering::Relaxed);
            let _ = services.data_server.set(Arc::new(starter.data.clone()));
            let config = EngineConfig::new(Clock::Real, services);
            let engine = Arc::new(FlowEngine::new(starter.catalog.clone(), config));
            starter.run(engine).await.expect("a server")
        });
        let port = running.rest.port();
        let client = format!("basic:\n  host: 127.0.0.1\n  restPort: {port}\n");
        std::fs::write(base.join("etc/client.yaml"), client).expect("client.yaml");
        Server { runtime, running: Some(running), base }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(running) = self.running.take() {
            self.runtime.block_on(running.shut_down());
        }
        let _ = std::fs::remove_dir_all(&self.base);
    }
}

fn run(server: &Server, number: usize, case: &Value) -> Result<(), String> {
    let work = server.base.join(format!("case{number}"));
    std::fs::create_dir_all(&work).map_err(|e| e.to_string())?;
    let names = Names::from([
        ("{uid}", format!("u{number}x{}", std::process::id())),
        ("{workdir}", work.display().to_string()),
    ]);
    let steps = case["steps"].as_array().into_iter().flatten();
    let done = steps.enumerate().try_for_each(|(i, step)| {
        patiently(server, step, &names).map_err(|why| format!("step {}: {why}", i + 1))
    });
    for step in case["cleanup"].as_array().into_iter().flatten() {
        // what the case has dropped itself is not there any more
        let _ = output(server, step, &names);
    }
    done
}

/// A step may become right within its time.
fn patiently(server: &Server, step: &Value, names: &Names) -> Result<(), String> {
    let time = Duration::from_millis(step["until_ms"].as_u64().unwrap_or(0));
    let end = Instant::now() + time;
    loop {
        match one(server, step, names) {
            Err(_) if Instant::now() < end => std::thread::sleep(Duration::from_millis(50)),
            done => return done,
        }
    }
}

fn one(server: &Server, step: &Value, names: &Names) -> Result<(), String> {
    let text = |v: &Value| fill(v.as_str().unwrap_or_default(), names, false);
    if step["write"].is_string() {
        return std::fs::write(text(&step["write"]), text(&step["content"]))
            .map_err(|e| e.to_string());
    }
    if step["read"].is_string() {
        let got = std::fs::read_to_string(text(&step["read"])).unwrap_or_default();
        return check(&step["expect"], None, &got, names);
    }
    let (code, out) = output(server, step, names)?;
    let greeting = Regex::new(r"^Connecting to \S+:\d+\.\.\. *\n").expect("a pattern");
    let rest = greeting.find(&out).map(|m| &out[m.end()..]);
    if rest.is_none() && step["expect"]["no_connecting_line"] != true {
        return Err(format!("no line that names the server: {out:?}"));
    }
    check(&step["expect"], code, rest.unwrap_or(&out), names)
}

fn output(server: &Server, step: &Value, names: &Names) -> Result<(Option<i32>, String), String> {
    let args = step["args"].as_array().into_iter().flatten();
    let args = args.map(|a| fill(a.as_str().unwrap_or_default(), names, false));
    let mut child = Command::new(env!("CARGO_BIN_EXE_kuiper"))
        .args(args)
        .env_remove("KUIPER_URL")
        .current_dir(&server.base)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    if let Some(mut stdin) = child.stdin.take() {
        let text = fill(step["stdin"].as_str().unwrap_or_default(), names, false);
        // a command that does not read has closed it
        let _ = stdin.write_all(text.as_bytes());
    }
    let done = child.wait_with_output().map_err(|e| e.to_string())?;
    Ok((done.status.code(), String::from_utf8_lossy(&done.stdout).into_owned()))
}

fn check(want: &Value, code: Option<i32>, out: &str, names: &Names) -> Result<(), String> {
    if let (Some(want), Some(got)) = (want["exit"].as_i64(), code)
        && want != i64::from(got)
    {
        return Err(format!("exit {got}, not {want}: {out:?}"));
    }
    if let Some(text) = want["stdout"].as_str()
        && tidy(out) != tidy(&fill(text, names, false))
    {
        return Err(format!("printed {out:?}, not {text:?}"));
    }
    if let Some(pattern) = want["stdout_regex"].as_str() {
        let pattern = format!("(?s){}", fill(pattern, names, true));
        let regex = Regex::new(&pattern).map_err(|e| e.to_string())?;
        if !regex.is_match(out) {
            return Err(format!("printed {out:?}, nothing like {pattern:?}"));
        }
    }
    let json = &want["stdout_json"];
    if !json.is_null() {
        let at = out.find(['{', '[']).unwrap_or(0);
        let got: Value = serde_json::from_str(&out[at..]).map_err(|e| format!("{e}: {out:?}"))?;
        let json: Value = serde_json::from_str(&fill(&json.to_string(), names, false))
            .map_err(|e| e.to_string())?;
        if !matches(&json, &got) {
            return Err(format!("printed {got}, not {json}"));
        }
    }
    Ok(())
}

fn fill(text: &str, names: &Names, escaped: bool) -> String {
    names.iter().fold(text.to_string(), |text, (name, value)| {
        let value = if escaped { regex::escape(value) } else { value.clone() };
        text.replace(name, &value)
    })
}

/// Blanks at the ends of lines do not count.
fn tidy(text: &str) -> String {
    text.trim().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

fn matches(want: &Value, got: &Value) -> bool {
    match want {
        Value::String(wild) if wild == "{any}" => true,
        Value::String(wild) if wild == "{int}" => got.is_i64() || got.is_u64(),
        Value::String(wild) if wild == "{string}" => got.is_string(),
        Value::Object(w) if w.contains_key("$subset") => {
            let part = w["$subset"].as_object().expect("an object in $subset");
            part.iter().all(|(k, v)| got.get(k).is_some_and(|g| matches(v, g)))
        }
        Value::Object(w) if w.contains_key("$has") => {
            let (want, got) = (w["$has"].as_array(), got.as_array());
            let got: Vec<&Value> = got.into_iter().flatten().collect();
            want.into_iter().flatten().all(|w| got.iter().any(|g| matches(w, g)))
        }
        Value::Object(w) if w.contains_key("$re") => {
            let regex = Regex::new(w["$re"].as_str().unwrap_or_default()).expect("a pattern");
            got.as_str().is_some_and(|g| regex.is_match(g))
        }
        Value::Object(w) => got.as_object().is_some_and(|g| {
            g.len() == w.len() && w.iter().all(|(k, v)| g.get(k).is_some_and(|g| matches(v, g)))
        }),
        Value::Array(w) => got
            .as_array()
            .is_some_and(|g| g.len() == w.len() && w.iter().zip(g).all(|(w, g)| matches(w, g))),
        Value::Number(w) => got.as_f64() == w.as_f64(),
        other => other == got,
    }
}
