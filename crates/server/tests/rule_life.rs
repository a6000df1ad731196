//! The life of rules as a user drives it: what hangs holds up nobody, what can be written is.

mod common;

use std::net::TcpListener;
use std::time::{Duration, Instant};

use common::{Folder, Server};
use serde_json::{Value, json};

fn created(server: &Server, path: &str, body: Value) {
    let made = server.call("POST", path, &body.to_string());
    assert_eq!(made.status, 201, "{}", made.body);
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// A stream of one row, then silence.
fn stream(server: &Server, name: &str) {
    let extra = r#"{"data":[{"a":1},{"a":2}],"interval":50,"loop":true}"#.replace('"', "\\\"");
    let sql =
        format!("CREATE STREAM {name} () WITH (TYPE=\"simulator\", EXTRA=\"{extra}\")");
    created(server, "/streams", json!({ "sql": sql }));
}

/// Takes connections and never answers.
fn silent() -> (TcpListener, String) {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", silent.local_addr().unwrap());
    (silent, url)
}

#[test]
fn a_sink_that_hangs_holds_up_nobody() {
    let server = Server::start_in(Folder::new("hanging"), &[]);
    let (_silent, url) = silent();
    stream(&server, "s");
    let ids: Vec<String> = (0..8).map(|n| format!("r{n}")).collect();
    for id in &ids {
        let path = server.base.path().join(id);
        let actions = json!([
            {"rest": {"url": url, "timeout": 60_000}},
            {"file": {"path": path, "sendSingle": true}},
        ]);
        let sql = "SELECT * FROM s";
        let rule = json!({"id": id, "sql": sql, "actions": actions, "tags": ["slow"]});
        created(&server, "/rules", rule);
    }
    let status = |id: &str| server.get(&format!("/rules/{id}/status"));
    let sent = |id: &str| status(id)["sink_file_1_0_records_out_total"].as_u64();
    for id in &ids {
        until("rows are written", || sent(id) > Some(0));
    }

    let start = Instant::now();
    let gone = server.call("DELETE", "/rules/r0", "");
    assert_eq!((gone.status, gone.body.trim()), (200, "Rule r0 is dropped."));
    assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    assert_eq!(server.call("DELETE", "/rules/r0", "").status, 400);
    let written = std::fs::read_to_string(server.base.path().join("r0")).unwrap();
    assert!(written.ends_with("}\n") || written.ends_with('}'), "{written}");

    // the name is free at once, and its new run is not touched by the end of the old one
    let rule = json!({"id": "r0", "sql": "SELECT a FROM s", "actions": [{"nop": {}}]});
    created(&server, "/rules", rule);
    std::thread::sleep(Duration::from_millis(50));
    assert_eq!(status("r0")["status"], "running");

    let start = Instant::now();
    let tags = json!({"tags": ["slow"]}).to_string();
    let stopped = server.call("POST", "/rules/bulkstop", &tags);
    let stopped: Vec<Value> = serde_json::from_str(&stopped.body).unwrap();
    assert_eq!(stopped.len(), 7);
    assert!(stopped.iter().all(|s| s["success"] == true), "{stopped:?}");
    assert!(start.elapsed() < Duration::from_secs(9), "side by side: {:?}", start.elapsed());
    assert!(ids[1..].iter().all(|id| status(id)["status"] == "stopped"));

    let started = server.call("POST", "/rules/bulkstart", &tags);
    assert!(started.body.matches("true").count() == 7, "{}", started.body);
    until("rows are written", || sent("r7") > Some(0));
    let start = Instant::now();
    server.stop();
    assert!(start.elapsed() < Duration::from_secs(9), "side by side: {:?}", start.elapsed());
}

#[test]
fn a_rule_that_is_dropped_while_others_want_it_stays_dropped() {
    let server = Server::start("dropped", &[]);
    stream(&server, "s");
    let (_silent, url) = silent();
    for round in 0..3 {
        let id = format!("r{round}");
        let actions = json!([{"rest": {"url": url, "timeout": 60_000}}]);
        created(&server, "/rules", json!({"id": id, "sql": "SELECT * FROM s", "actions": actions}));
        let status = |id: &str| server.get(&format!("/rules/{id}/status"));
        until("rows", || {
            status(&id)["op_rest_0_1_encode_0_records_out_total"].as_u64() > Some(0)
        });
        std::thread::scope(|scope| {
            let drop = scope.spawn(|| server.call("DELETE", &format!("/rules/{id}"), "").status);
            std::thread::sleep(Duration::from_millis(100)); // its end is being waited for
            let tags = scope.spawn(|| {
                let body = json!({"tags": ["late"]}).to_string();
                server.call("PUT", &format!("/rules/{id}/tags"), &body).status
            });
            let start =
                scope.spawn(|| server.call("POST", &format!("/rules/{id}/start"), "").status);
            assert_eq!(drop.join().unwrap(), 200);
            assert_eq!((tags.join().unwrap(), start.join().unwrap()), (404, 404));
        });
    }
    assert_eq!(server.get("/rules"), json!([]));
    let base = server.stop();
    let again = Server::start_in(base, &[]);
    assert_eq!(again.get("/rules"), json!([]));
    again.stop();
}
