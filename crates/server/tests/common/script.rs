//! Runs recorded request scripts; their form is described beside the recorder of the cases.

use std::collections::HashMap;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::{Folder, http, matching};

pub struct Scenario {
    pub name: String,
    steps: Vec<Value>,
    cleanup: Vec<Value>,
}

pub fn read(file: &str) -> Vec<Scenario> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests")
        .join(file);
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    text.lines()
        .filter(|l| !l.trim().is_empty())
        .map(scenario)
        .collect()
}

fn scenario(line: &str) -> Scenario {
    let v: Value = serde_json::from_str(line).unwrap();
    let list = |key: &str| v[key].as_array().cloned().unwrap_or_default();
    Scenario {
        name: v["name"].as_str().unwrap().into(),
        steps: list("steps"),
        cleanup: list("cleanup"),
    }
}

type Names = Vec<(String, String)>;

/// Puts names into every string; those in patterns are escaped.
fn fill(v: &Value, names: &Names, escape: bool) -> Value {
    match v {
        Value::String(s) => {
            let put = |s: String, (k, x): &(String, String)| {
                let x = if escape { regex::escape(x) } else { x.clone() };
                s.replace(&format!("{{{k}}}"), &x)
            };
            names.iter().fold(s.clone(), put).into()
        }
        Value::Array(a) => a
            .iter()
            .map(|x| fill(x, names, escape))
            .collect::<Vec<_>>()
            .into(),
        Value::Object(o) => o
            .iter()
            .map(|(k, x)| {
                let key = fill(&k.clone().into(), names, false);
                let escape = escape || k == "$re" || k == "regex" || k == "headers";
                (
                    key.as_str().unwrap_or_default().to_owned(),
                    fill(x, names, escape),
                )
            })
            .collect::<Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

struct Run<'a> {
    url: &'a str,
    names: Names,
    streams: HashMap<String, Receiver<String>>,
}

/// What goes wrong, if anything.
pub fn run(url: &str, sc: &Scenario) -> Option<String> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let folder = Folder::new("case");
    let n = NUMBER.fetch_add(1, Ordering::Relaxed);
    let uid = format!("u{:04}{:05}", std::process::id() % 10_000, n);
    let host = url
        .trim_start_matches("http://")
        .split(':')
        .next()
        .unwrap_or_default();
    let names = vec![
        ("uid".to_owned(), uid),
        ("workdir".to_owned(), folder.path().display().to_string()),
        ("host".to_owned(), host.to_owned()),
    ];
    let mut run = Run {
        url,
        names,
        streams: HashMap::new(),
    };
    let mut bad = None;
    for (i, step) in sc.steps.iter().enumerate() {
        if let Some(why) = run.step(step) {
            bad = Some(format!(
                "step {} {} {}: {why}",
                i + 1,
                step["method"],
                step["path"]
            ));
            break;
        }
    }
    for step in &sc.cleanup {
        run.step(step);
    }
    bad
}

impl Run<'_> {
    fn step(&mut self, step: &Value) -> Option<String> {
        if let Some(ms) = step["wait_ms"].as_u64() {
            std::thread::sleep(Duration::from_millis(ms));
        }
        let filled = fill(step, &self.names, false);
        let text = |key: &str| filled[key].as_str().map(str::to_owned);
        if let Some(path) = text("write") {
            return std::fs::write(path, text("content")?)
                .err()
                .map(|e| e.to_string());
        }
        if let Some(path) = text("zip") {
            return zip(&path, &filled["files"]).err();
        }
        if let Some(name) = text("sse") {
            return match http::events(&text("url")?) {
                Ok(events) => {
                    self.streams.insert(name, events);
                    None
                }
                Err(e) => Some(e),
            };
        }
        let expect = step
            .get("expect")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        let until = step["until_ms"].as_u64();
        if let Some(name) = text("sse_read") {
            return self.read_events(&name, step, &expect, until.unwrap_or(5000));
        }
        let deadline = Instant::now() + Duration::from_millis(until.unwrap_or(0));
        loop {
            let bad = match text("read") {
                Some(path) => self.check(&expect, None, std::fs::read_to_string(path).ok(), &[]),
                None => match self.request(&filled) {
                    Err(e) => Some(e),
                    Ok(a) => {
                        let bad =
                            self.check(&expect, Some(a.status), Some(a.body.clone()), &a.headers);
                        if bad.is_none() {
                            self.save(step, &a.body);
                        }
                        bad
                    }
                },
            };
            if bad.is_none() || Instant::now() >= deadline {
                return bad;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn check(
        &self,
        expect: &Map<String, Value>,
        status: Option<u16>,
        body: Option<String>,
        headers: &[(String, String)],
    ) -> Option<String> {
        let filled = fill(&expect.clone().into(), &self.names, false);
        // Patterns were filled with escaped names by their keys.
        let Value::Object(filled) = filled else {
            return None;
        };
        let header = |name: &str| {
            let found = headers.iter().find(|(k, _)| k.eq_ignore_ascii_case(name));
            found.map_or_else(String::new, |(_, v)| v.clone())
        };
        matching::check(&filled, status, body.as_deref(), &header)
    }

    fn request(&self, step: &Value) -> Result<http::Answer, String> {
        let mut headers: Vec<(String, String)> = Vec::new();
        for (k, v) in step["headers"].as_object().into_iter().flatten() {
            headers.push((k.clone(), v.as_str().unwrap_or_default().to_owned()));
        }
        let mut body = Vec::new();
        if let Some(parts) = step["multipart"].as_array() {
            let mark = "mark-of-the-parts";
            headers.push((
                "Content-Type".into(),
                format!("multipart/form-data; boundary={mark}"),
            ));
            for p in parts {
                let file = p["filename"]
                    .as_str()
                    .map(|f| format!("; filename=\"{f}\""));
                let (name, content) = (p["name"].as_str(), p["content"].as_str());
                let (name, content) = (name.unwrap_or_default(), content.unwrap_or_default());
                let file = file.unwrap_or_default();
                body.extend(
                    format!(
                        "--{mark}\r\nContent-Disposition: form-data; name=\"{name}\"{file}\r\n\
                     \r\n{content}\r\n"
                    )
                    .bytes(),
                );
            }
            body.extend(format!("--{mark}--\r\n").bytes());
        } else if let Some(json) = step.get("body") {
            body = json.to_string().into_bytes();
        } else if let Some(text) = step["text"].as_str() {
            body = text.as_bytes().to_vec();
        }
        let typed = headers
            .iter()
            .any(|(k, _)| k.eq_ignore_ascii_case("content-type"));
        if !typed && (step.get("body").is_some() || step.get("text").is_some()) {
            headers.push(("Content-Type".into(), "application/json".into()));
        }
        let part = |key: &str| step[key].as_str().unwrap_or_default();
        let path = part("path").replace(' ', "%20");
        http::call(self.url, part("method"), &path, &headers, &body)
    }

    fn save(&mut self, step: &Value, body: &str) {
        for (name, path) in step["save"].as_object().into_iter().flatten() {
            let path = path.as_str().unwrap_or_default();
            let value = match path {
                "" => body.to_owned(),
                path => {
                    let v: Value = serde_json::from_str(body).unwrap_or_default();
                    let at = path.split('.').fold(&v, |v, p| match p.parse::<usize>() {
                        Ok(i) if v.is_array() => &v[i],
                        _ => &v[p],
                    });
                    at.as_str().map_or_else(|| at.to_string(), str::to_owned)
                }
            };
            self.names.retain(|(k, _)| k != name);
            self.names.push((name.clone(), value));
        }
    }

    fn read_events(
        &self,
        name: &str,
        step: &Value,
        expect: &Map<String, Value>,
        ms: u64,
    ) -> Option<String> {
        let count = step["count"].as_u64().unwrap_or(1) as usize;
        let deadline = Instant::now() + Duration::from_millis(ms);
        let mut got = Vec::new();
        let events = self.streams.get(name)?;
        while got.len() < count {
            let left = deadline.saturating_duration_since(Instant::now());
            let Ok(line) = events.recv_timeout(left) else {
                break;
            };
            got.push(serde_json::from_str(&line).unwrap_or(Value::String(line)));
        }
        self.check(expect, None, Some(Value::Array(got).to_string()), &[])
    }
}

fn zip(path: &str, files: &Value) -> Result<(), String> {
    let file = std::fs::File::create(path).map_err(|e| e.to_string())?;
    let mut out = zip::ZipWriter::new(file);
    for (name, text) in files.as_object().into_iter().flatten() {
        let options = zip::write::SimpleFileOptions::default();
        out.start_file(name.as_str(), options)
            .map_err(|e| e.to_string())?;
        let text = text.as_str().unwrap_or_default();
        out.write_all(text.as_bytes()).map_err(|e| e.to_string())?;
    }
    out.finish().map(drop).map_err(|e| e.to_string())
}
