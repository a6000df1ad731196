//! Sources that know where they are: they go on there, and a user can set them back.

mod common;

use std::collections::HashMap;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{Folder, Server};
use rekuiper_flow::{EngineConfig, StateStore};
use serde_json::{Value, json};

/// States of rules, kept in memory.
#[derive(Default)]
struct States(Mutex<HashMap<String, Vec<u8>>>);

impl StateStore for States {
    fn put(&self, rule: &str, state: Vec<u8>) {
        self.0.lock().unwrap().insert(rule.to_owned(), state);
    }

    fn get(&self, rule: &str) -> Option<Vec<u8>> {
        self.0.lock().unwrap().get(rule).cloned()
    }

    fn remove(&self, rule: &str) {
        self.0.lock().unwrap().remove(rule);
    }
}

/// Answers every request with the next number and passes on what was asked for.
fn counting() -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let at = listener.local_addr().unwrap();
    let (tx, rx) = channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let mut request = [0; 4096];
            let Ok(n) = stream.read(&mut request) else { continue };
            let text = String::from_utf8_lossy(&request[..n]).into_owned();
            let path = text.split(' ').nth(1).unwrap_or_default().to_owned();
            let from: i64 = path.rsplit('=').next().and_then(|n| n.parse().ok()).unwrap_or(-1);
            let body = json!({"from": from + 1}).to_string();
            let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n";
            let length = body.len();
            let _ = write!(stream, "{head}content-length: {length}\r\n\r\n{body}");
            if tx.send(path).is_err() {
                return;
            }
        }
    });
    (format!("http://{at}/rows?from={{{{.from}}}}"), rx)
}

fn created(server: &Server, path: &str, body: Value) {
    let made = server.call("POST", path, &body.to_string());
    assert_eq!(made.status, 201, "{}", made.body);
}

fn next(asked: &Receiver<String>) -> String {
    asked.recv_timeout(Duration::from_secs(20)).expect("a request")
}

#[test]
fn a_pull_is_set_back_and_goes_on_after_a_restart() {
    let states = |config: &mut EngineConfig| config.states = Some(Arc::new(States::default()));
    let server = Server::start_tuned(Folder::new("rewind"), &[], states);
    let (url, asked) = counting();
    let props = json!({"url": url, "interval": "20ms", "states": {"from": 7}});
    let key = server.call("PUT", "/metadata/sources/httppull/confKeys/k", &props.to_string());
    assert_eq!(key.status, 200, "{}", key.body);
    let sql = "CREATE STREAM s () WITH (TYPE=\"httppull\", CONF_KEY=\"k\", DATASOURCE=\"\")";
    created(&server, "/streams", json!({ "sql": sql }));
    let rule = json!({"id": "r", "sql": "SELECT * FROM s", "actions": [{"nop": {}}],
        "options": {"qos": 1}});
    created(&server, "/rules", rule);
    assert_eq!([next(&asked), next(&asked)], ["/rows?from=7", "/rows?from=8"]);

    let reset = |body: Value| server.call("PUT", "/rules/r/reset_state", &body.to_string());
    let to = |stream: &str, input: Value| {
        reset(json!({"type": 1, "params": {"streamName": stream, "input": input}}))
    };
    for refused in [
        to("other", json!({"from": 1})),
        to("s", json!({"form": 1})),
        reset(json!({"type": 2, "params": {"streamName": "s", "input": {"from": 1}}})),
    ] {
        assert_eq!(refused.status, 400, "{}", refused.body);
    }
    let done = to("s", json!({"from": 5000}));
    assert_eq!((done.status, done.body.trim()), (200, "success"));
    while next(&asked) != "/rows?from=5000" {}
    assert_eq!(next(&asked), "/rows?from=5001");

    // a stop keeps the position of a rule with qos
    assert_eq!(server.call("POST", "/rules/r/stop", "").status, 200);
    let mut last = "/rows?from=5001".to_owned();
    while let Ok(path) = asked.recv_timeout(Duration::from_millis(200)) {
        last = path;
    }
    let not_running = to("s", json!({"from": 1}));
    assert_eq!(not_running.status, 400, "{}", not_running.body);
    let number = |path: &str| path.rsplit('=').next().unwrap().parse::<i64>().unwrap();
    assert_eq!(server.call("POST", "/rules/r/start", "").status, 200);
    let first = number(&next(&asked));
    assert!((number(&last)..=number(&last) + 1).contains(&first), "{first} after {last}");
    server.stop();
}
