//! The recorded answers of the SQL dialect, through everything: REST, file source, engine, file
//! sink. Each way of handing rows over must give them: own and shared streams, batches of one row,
//! of seven, of as many as there are, windows that keep aggregates and windows that keep rows. All
//! cases run in all of these. That a rule is stopped and goes on from what it saved is tried in
//! `testkit`, where it can be stopped between any two batches.

mod common;

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use common::golden::{folder, read, same};
use common::{Folder, Server, http};
use regex::Regex;
use serde_json::{Value, json};

/// Cases not followed, see docs/deviations.md; each must still differ, so that the list cannot rot.
const NOT_FOLLOWED: &[(&str, &str)] = &[
    ("text_after_semicolon_ignored", "half of what was asked is not an answer"),
    ("order_expr", "the recorded order is not that of the keys"),
    ("scan_right_only_stream_triggers", "RIGHT keeps the rows of the joined side"),
    ("hop_larger_than_length", "the recorded answer has lost a row of the last window"),
    ("hop_ms", "the recorded answer has lost a row of the last window"),
];

/// A rule over a few lines ends long before.
const PATIENCE: Duration = Duration::from_secs(20);
const JOBS: usize = 6;

/// How rows are handed over and held.
#[derive(Clone, Copy)]
struct Mode {
    shared: bool,
    batch_rows: usize,
    buffered: bool,
}

struct Case {
    file: String,
    what: Value,
}

fn cases() -> Vec<Case> {
    let entries = std::fs::read_dir(folder("sql")).expect("tests/sql");
    let mut files: Vec<_> = entries.map(|e| e.expect("an entry").path()).collect();
    // these are run as well, not only accepted
    files.push(folder("grammar").join("deviations_runtime.jsonl"));
    files.sort();
    let of = |path: &Path| {
        let file = path.file_stem().expect("a name").to_string_lossy().into_owned();
        let case = move |what| Case { file: file.clone(), what };
        read(path).into_iter().map(case).collect::<Vec<_>>()
    };
    files.iter().flat_map(|path| of(path)).collect()
}

fn all(mode: Mode) {
    let todo = cases();
    assert!(todo.len() >= 2200, "only {} cases", todo.len());
    let listed = |name: &&str| todo.iter().any(|case| case.what["name"] == *name);
    assert!(NOT_FOLLOWED.iter().all(|(name, _)| listed(name)), "a case is listed that is not there");
    let server = Server::start_tuned(Folder::new("sql-server"), &[], |engine| {
        engine.batch_rows = mode.batch_rows;
        engine.force_buffered = mode.buffered;
    });
    let work = Folder::new("sql-cases");
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let worker = || {
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            let Some(case) = todo.get(n) else { return };
            let got = Run { url: &server.url, work: work.path(), n, mode, made: vec![] };
            if let Some(text) = verdict(case, got.run(&case.what)) {
                wrong.lock().expect("no panic").push(text);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..JOBS {
            scope.spawn(worker);
        }
    });
    let wrong = wrong.into_inner().expect("no panic");
    server.stop();
    println!("{} cases, {} wrong", todo.len(), wrong.len());
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), todo.len(), wrong.join("\n"));
}

/// What came of a case: refused with a text, or emissions and why it failed.
enum Got {
    Refused(String),
    Ran { emissions: Vec<Vec<Value>>, fails: Option<String> },
}

/// What is wrong, if anything.
fn verdict(case: &Case, got: Result<Got, String>) -> Option<String> {
    let (file, case) = (&case.file, &case.what);
    let name = case["name"].as_str().unwrap_or_default();
    let wrong = match got {
        Ok(got) => differs(case, &got),
        Err(why) => return Some(format!("{file} {name}: {why}")),
    };
    match (NOT_FOLLOWED.iter().any(|(n, _)| *n == name), wrong) {
        (true, None) => Some(format!("{file} {name} is right now: unlist it")),
        (false, Some(text)) => Some(format!("{file} {name}: {}\n  {text}", case["sql"])),
        _ => None,
    }
}

fn differs(case: &Value, got: &Got) -> Option<String> {
    let want = &case["expect"];
    match (case["error"] == true, got) {
        (true, Got::Refused(_)) => None,
        (true, Got::Ran { .. }) => Some("should be refused".into()),
        (false, Got::Refused(why)) => Some(format!("refused: {why}")),
        (false, Got::Ran { emissions, fails }) => {
            let sql = case["sql"].as_str().unwrap_or_default();
            let ordered = sql.to_uppercase().contains("ORDER BY");
            let want: Vec<&Value> = want.as_array().into_iter().flatten().collect();
            let good = fails.is_some() == (case["fails"] == true)
                && emissions.len() == want.len()
                && emissions.iter().zip(&want).all(|(g, w)| same_rows(g, w, ordered));
            let got = json!(emissions);
            (!good).then(|| format!("want {}\n  got  {got} {fails:?}", case["expect"]))
        }
    }
}

fn same_rows(got: &[Value], want: &Value, ordered: bool) -> bool {
    let mut left: Vec<&Value> = want.as_array().into_iter().flatten().collect();
    if got.len() != left.len() {
        return false;
    }
    if ordered {
        return got.iter().zip(left).all(|(g, w)| same(g, w));
    }
    got.iter().all(|g| {
        let hit = left.iter().position(|w| same(g, w));
        hit.map(|i| left.remove(i)).is_some()
    })
}

/// One case on its way; what it made goes with it.
struct Run<'a> {
    url: &'a str,
    work: &'a Path,
    n: usize,
    mode: Mode,
    made: Vec<String>,
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        for path in self.made.iter().rev() {
            let _ = http::call(self.url, "DELETE", path, &[], b"");
        }
    }
}

impl Run<'_> {
    fn call(&self, method: &str, path: &str, body: &Value) -> Result<http::Answer, String> {
        let body = if body.is_null() { String::new() } else { body.to_string() };
        http::call(self.url, method, path, &[], body.as_bytes())
    }

    fn run(mut self, case: &Value) -> Result<Got, String> {
        let mut sql = case["sql"].as_str().unwrap_or_default().to_owned();
        let mut names = Vec::new();
        for stream in case["streams"].as_array().into_iter().flatten() {
            let name = stream["name"].as_str().unwrap_or_default();
            let unique = format!("{name}_q{}q", self.n);
            if let Some(why) = self.stream(stream, &unique)? {
                return Ok(Got::Refused(why));
            }
            sql = rename(&sql, name, &unique);
            names.push((unique, name));
        }
        let (id, out) = (format!("r{}", self.n), self.work.join(format!("out{}", self.n)));
        let mut action = json!({"path": out, "fileType": "lines", "sendSingle": false});
        merge(&mut action, &case["sink"]);
        let options = if case["options"].is_null() { json!({}) } else { case["options"].clone() };
        let rule = json!({"id": id, "sql": sql, "options": options, "actions": [{"file": action}]});
        let answer = self.call("POST", "/rules", &rule)?;
        if answer.status >= 400 {
            return Ok(Got::Refused(answer.body));
        }
        self.made.push(format!("/rules/{id}"));
        let fails = self.ended(&id)?;
        // what is under way is written before the rule is gone
        let rule = self.made.pop().unwrap_or_default();
        self.call("DELETE", &rule, &Value::Null)?;
        let text = std::fs::read_to_string(&out).unwrap_or_default();
        let text = names.iter().fold(text, |text, (unique, name)| text.replace(unique, name));
        let emissions = text.lines().filter(|l| !l.trim().is_empty()).map(emission);
        Ok(Got::Ran { emissions: emissions.collect(), fails })
    }

    /// Makes a stream over a file of its own; gives the text of a refusal.
    fn stream(&mut self, stream: &Value, unique: &str) -> Result<Option<String>, String> {
        let file = format!("in_{unique}.txt");
        let mut text = String::new();
        let raw = stream["lines"].as_array();
        for row in raw.or(stream["input"].as_array()).into_iter().flatten() {
            match row.as_str().filter(|_| raw.is_some()) {
                Some(line) => text.push_str(line),
                None => text.push_str(&row.to_string()),
            }
            text.push('\n');
        }
        std::fs::write(self.work.join(&file), text).map_err(|e| e.to_string())?;
        let mut conf = json!({"fileType": "lines", "interval": "0s", "path": self.work});
        merge(&mut conf, &stream["conf"]);
        let key = format!("/metadata/sources/file/confKeys/{unique}");
        self.call("PUT", &key, &conf)?;
        self.made.push(key);
        let kind = stream["kind"].as_str().unwrap_or("STREAM");
        let ddl = ddl(stream, kind, unique, &file, self.mode.shared);
        let plural = format!("/{}s", kind.to_lowercase());
        let answer = self.call("POST", &plural, &json!({"sql": ddl}))?;
        if answer.status >= 400 {
            return Ok(Some(answer.body));
        }
        self.made.push(format!("{plural}/{unique}"));
        Ok(None)
    }

    /// Waits for the end of the rule; gives why it failed, if it did.
    fn ended(&self, id: &str) -> Result<Option<String>, String> {
        let end = Instant::now() + PATIENCE;
        loop {
            let answer = self.call("GET", &format!("/rules/{id}/status"), &Value::Null)?;
            let status: Value =
                serde_json::from_str(&answer.body).map_err(|e| format!("{e}: {}", answer.body))?;
            let state = status["status"].as_str().unwrap_or_default();
            let message = status["message"].as_str().unwrap_or_default();
            if state.starts_with("stopped") {
                let good = state == "stopped" && ["", "done"].contains(&message);
                return Ok((!good).then(|| format!("{state} {message}")));
            }
            if Instant::now() > end {
                return Err(format!("does not end: {}", answer.body));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

fn ddl(stream: &Value, kind: &str, unique: &str, file: &str, shared: bool) -> String {
    let with = stream["with"].as_str().unwrap_or_default();
    let upper = with.to_uppercase().replace(' ', "");
    let mut options = format!(r#"DATASOURCE="{file}", TYPE="file", CONF_KEY="{unique}""#);
    if !upper.contains("FORMAT=") {
        options.push_str(r#", FORMAT="JSON""#);
    }
    if shared && kind == "STREAM" && !upper.contains("SHARED=") {
        options.push_str(r#", SHARED="true""#);
    }
    if !with.is_empty() {
        options.push_str(&format!(", {with}"));
    }
    let fields = stream["fields"].as_str().unwrap_or_default();
    format!("CREATE {kind} {unique} ({fields}) WITH ({options})")
}

fn merge(into: &mut Value, more: &Value) {
    for (key, value) in more.as_object().into_iter().flatten() {
        into[key] = value.clone();
    }
}

/// Puts a stream's unique name where its name stands, but not where that is a function's.
fn rename(sql: &str, name: &str, unique: &str) -> String {
    let word = Regex::new(&format!(r"\b{}\b", regex::escape(name))).expect("a pattern");
    let put = |found: &regex::Captures| {
        let whole = found.get(0).expect("the match");
        let call = sql[whole.end()..].trim_start().starts_with('(');
        if call { name.to_owned() } else { unique.to_owned() }
    };
    word.replace_all(sql, put).into_owned()
}

/// A line that is no JSON counts as a row with a text.
fn emission(line: &str) -> Vec<Value> {
    match serde_json::from_str(line) {
        Ok(Value::Array(rows)) => rows,
        Ok(row) => vec![row],
        Err(_) => vec![json!({"text": line})],
    }
}

macro_rules! modes {
    ($($name:ident $shared:literal $batch_rows:literal $buffered:literal;)*) => {
        $(#[test]
        fn $name() {
            all(Mode { shared: $shared, batch_rows: $batch_rows, buffered: $buffered });
        })*
    };
}

modes! {
    own_1024 false 1024 false;
    own_7 false 7 false;
    own_1 false 1 false;
    shared_1024 true 1024 false;
    shared_7 true 7 false;
    shared_1 true 1 false;
    own_1024_buffered false 1024 true;
    own_7_buffered false 7 true;
    own_1_buffered false 1 true;
    shared_1024_buffered true 1024 true;
    shared_7_buffered true 7 true;
    shared_1_buffered true 1 true;
}
