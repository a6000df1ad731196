//! The rows of scan tables that a running rule holds, over REST.

mod common;

use std::time::{Duration, Instant};

use common::{Folder, Server};
use serde_json::{Value, json};

#[test]
fn rows_that_a_join_holds_are_shown() {
    let base = Folder::new("scan-tables");
    let file = base.path().join("rows.json");
    std::fs::write(&file, r#"[{"a":1,"b":"one","c":true},{"a":2,"b":"two"}]"#).unwrap();
    let server = Server::start_in(base, &[]);
    let post = |path: &str, body: Value| {
        let answer = server.call("POST", path, &body.to_string());
        assert_eq!(answer.status, 201, "{}", answer.body);
    };
    let stream = r#"CREATE STREAM s () WITH (DATASOURCE="in", TYPE="memory", FORMAT="json")"#;
    let table = format!(
        "CREATE TABLE t (a bigint, b string, c boolean) WITH (DATASOURCE=\"{}\", TYPE=\"file\", \
         FORMAT=\"json\")",
        file.display()
    );
    post("/streams", json!({"sql": stream}));
    post("/tables", json!({"sql": table}));
    let sql = "SELECT s.k, t.b FROM s INNER JOIN t ON s.k = t.a";
    post("/rules", json!({"id": "r", "sql": sql, "actions": [{"nop": {}}]}));
    post("/rules", json!({"id": "plain", "sql": "SELECT * FROM s", "actions": [{"nop": {}}]}));
    let until = Instant::now() + Duration::from_secs(20);
    let mut rows = Value::Null;
    while rows.as_array().is_none_or(|r| r.len() < 2) {
        assert!(Instant::now() < until, "{rows}");
        std::thread::sleep(Duration::from_millis(20));
        rows = server.get("/rules/r/scantables");
    }
    // only what the rule reads is held
    assert_eq!(
        rows,
        json!([
            {"emitter": "t", "content": {"a": 1, "b": "one"}},
            {"emitter": "t", "content": {"a": 2, "b": "two"}},
        ])
    );
    assert_eq!(server.call("GET", "/rules/plain/scantables", "").status, 400);
    assert_eq!(server.call("GET", "/rules/none/scantables", "").status, 404);
    server.stop();
}
