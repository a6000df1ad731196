//! What was acknowledged is there after `kill -9`, what was not may be there or not, never half.

mod common;

use std::collections::BTreeMap;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Folder, http};
use serde_json::{Value, json};

struct Process {
    child: Child,
    url: String,
}

impl Process {
    /// Starts the real binary and waits for its first answer.
    fn start(base: &Path) -> Process {
        let free = || {
            TcpListener::bind("127.0.0.1:0")
                .unwrap()
                .local_addr()
                .unwrap()
                .port()
        };
        let (rest, data) = (free(), free());
        let child = Command::new(env!("CARGO_BIN_EXE_kuiperd"))
            .env("KuiperBaseKey", base)
            .env("KUIPER__BASIC__RESTIP", "127.0.0.1")
            .env("KUIPER__BASIC__RESTPORT", rest.to_string())
            .env("KUIPER__SOURCE__HTTPSERVERIP", "127.0.0.1")
            .env("KUIPER__SOURCE__HTTPSERVERPORT", data.to_string())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let process = Process {
            child,
            url: format!("http://127.0.0.1:{rest}"),
        };
        let until = Instant::now() + Duration::from_secs(20);
        while process.call("GET", "/ping", "").is_none() {
            assert!(Instant::now() < until, "the server does not answer");
            std::thread::sleep(Duration::from_millis(5));
        }
        process
    }

    fn call(&self, method: &str, path: &str, body: &str) -> Option<http::Answer> {
        http::call(&self.url, method, path, &[], body.as_bytes()).ok()
    }

    fn get(&self, path: &str) -> Value {
        let answer = self.call("GET", path, "").unwrap();
        serde_json::from_str(&answer.body).unwrap_or(Value::Null)
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // On Unix this is SIGKILL.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Small and repeatable.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

/// Name to what is known of it: its text when it must be there.
type Known = BTreeMap<String, Option<String>>;

fn stream(name: &str, n: u64) -> String {
    format!("CREATE STREAM {name} (a{n} bigint) WITH (DATASOURCE=\"x\", TYPE=\"memory\")")
}

fn rule(id: &str, n: u64) -> String {
    format!(
        r#"{{"id":"{id}","sql":"SELECT * FROM base","actions":[{{"nop":{{}}}}],"triggered":false,"tags":["{n}"]}}"#
    )
}

/// One change of a random thing, and what it would leave.
fn change(random: &mut Random, n: u64) -> (String, &'static str, String, String, Option<String>) {
    let (drop, i) = (random.below(3) == 0, random.below(20));
    if random.below(2) == 0 {
        let name = format!("s{i}");
        let path = format!("/streams/{name}");
        let sql = stream(&name, n);
        return match drop {
            true => (name, "DELETE", path, String::new(), None),
            false => (
                name,
                "PUT",
                path,
                json!({"sql": sql}).to_string(),
                Some(sql),
            ),
        };
    }
    let id = format!("r{i}");
    let path = format!("/rules/{id}");
    let text = rule(&id, n);
    match drop {
        true => (id, "DELETE", path, String::new(), None),
        false => (id, "PUT", path, text.clone(), Some(text)),
    }
}

#[test]
fn acknowledged_changes_survive_kill_9() {
    let base = Folder::new("restart");
    let mut random = Random(42);
    let mut known: Known = BTreeMap::new();
    let mut doubtful: Option<(String, Option<String>)> = None;
    let mut n = 0;
    for round in 0..12 {
        let mut process = Process::start(base.path());
        if round == 0 {
            let body = json!({"sql": stream("base", 0)}).to_string();
            assert_eq!(process.call("POST", "/streams", &body).unwrap().status, 201);
        }
        check(&process, &mut known, doubtful.take());
        let killed_after = 5 + random.below(40);
        let pid = process.child.id();
        let killer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(killed_after * 4));
            let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
        });
        loop {
            n += 1;
            let (name, method, path, body, left) = change(&mut random, n);
            match process.call(method, &path, &body) {
                Some(answer) if answer.status == 200 => drop(known.insert(name, left)),
                // Dropping what is not there.
                Some(answer) => assert!(method == "DELETE", "{method} {path}: {answer:?}"),
                None => {
                    doubtful = Some((name, left));
                    break;
                }
            }
        }
        killer.join().unwrap();
        let _ = process.child.wait();
    }
    let process = Process::start(base.path());
    check(&process, &mut known, doubtful.take());
    assert!(n > 50, "only {n} changes were made");
}

/// All that is known is as it was left; one change may have happened or not.
fn check(process: &Process, known: &mut Known, doubtful: Option<(String, Option<String>)>) {
    let export = process.get("/data/export");
    let there = |name: &str| {
        let part = if name.starts_with('s') {
            "streams"
        } else {
            "rules"
        };
        export[part][name].as_str().map(str::to_owned)
    };
    if let Some((name, left)) = doubtful {
        let is = there(&name);
        let was = known.get(&name).cloned().flatten();
        assert!(
            is == left || is == was,
            "{name}: {is:?} is neither {left:?} nor {was:?}"
        );
        known.insert(name, is);
    }
    for (name, left) in known.iter() {
        assert_eq!(&there(name), left, "{name}");
    }
    let count = known.values().filter(|v| v.is_some()).count();
    let parts = ["streams", "rules"].map(|p| export[p].as_object().map_or(0, |o| o.len()));
    assert_eq!(parts[0] + parts[1], count + 1, "nothing else is there");
}

#[test]
fn a_stop_over_the_api_ends_the_process_in_good_order() {
    let base = Folder::new("stop");
    let mut process = Process::start(base.path());
    let answer = process.call("POST", "/stop", "").unwrap();
    assert_eq!((answer.status, answer.body.as_str()), (200, "stop success"));
    assert_eq!(process.child.wait().unwrap().code(), Some(0));
}

#[test]
fn the_first_answer_comes_at_once() {
    let base = Folder::new("speed");
    drop(Process::start(base.path()));
    let begin = Instant::now();
    let process = Process::start(base.path());
    let took = begin.elapsed();
    // The target of a release build is 50 ms; this is a debug build on a busy machine.
    assert!(took < Duration::from_millis(2000), "{took:?}");
    drop(process);
}
