//! Trial runs as a user of the Manager makes them.

mod common;

use std::sync::mpsc::Receiver;
use std::time::Duration;

use common::{Server, http};
use serde_json::{Value, json};

fn stream(server: &Server, sql: &str) {
    let made = server.call("POST", "/streams", &json!({ "sql": sql }).to_string());
    assert_eq!(made.status, 201, "{}", made.body);
}

/// Prepares a run and listens to it.
fn prepared(server: &Server, trial: &Value) -> Receiver<String> {
    let made = server.call("POST", "/ruletest", &trial.to_string());
    assert_eq!(made.status, 200, "{}", made.body);
    let id = trial["id"].as_str().unwrap();
    http::events(&format!("{}/test/{id}", server.data_url)).unwrap()
}

fn start(server: &Server, id: &str) {
    let started = server.call("POST", &format!("/ruletest/{id}/start"), "");
    assert_eq!(started.body.trim(), format!("Test rule {id} was started"));
}

fn next(results: &Receiver<String>) -> String {
    results.recv_timeout(Duration::from_secs(10)).expect("a result")
}

#[test]
fn declared_types_and_shapes_hold_for_mocked_rows() {
    let server = Server::start("trial", &[]);
    stream(
        &server,
        "CREATE STREAM typed (a bigint, b string) WITH (DATASOURCE=\"t\", TYPE=\"memory\", \
         STRICT_VALIDATION=\"TRUE\", TEMP=\"TRUE\")",
    );
    let rows = json!([{"a": 1, "b": "x", "c": 9}, {"a": "no", "b": "y"}, {"a": 3, "b": "z"}]);
    let trial = |props: Value| {
        json!({"id": "t", "sql": "SELECT * FROM typed", "sinkProps": props,
            "mockSource": {"typed": {"data": rows, "interval": 5, "loop": false}}})
    };
    let results = prepared(&server, &trial(json!({"sendSingle": true, "rows": true})));
    start(&server, "t");
    assert_eq!(next(&results), r#"{"a":1,"b":"x"}"#);
    assert!(next(&results).contains('a'), "the fault of the second row is told");
    assert_eq!(next(&results), r#"{"a":3,"b":"z"}"#);

    let props = json!({"sendSingle": true, "format": "delimited", "fields": ["b", "a"]});
    let results = prepared(&server, &trial(props));
    start(&server, "t");
    assert_eq!(next(&results), "x,1");
    server.stop();
}

#[test]
fn what_cannot_work_is_refused_before_the_start() {
    let server = Server::start("trial-refused", &[]);
    stream(&server, "CREATE STREAM s () WITH (DATASOURCE=\"s\", TYPE=\"memory\")");
    stream(&server, "CREATE STREAM odd () WITH (DATASOURCE=\"s\", TYPE=\"zz\")");
    let refused = |trial: Value| {
        let made = server.call("POST", "/ruletest", &trial.to_string());
        assert_eq!(made.status, 400, "{trial}: {}", made.body);
        made.body
    };
    let all = "SELECT * FROM s";
    let with = |props: Value| json!({"id": "t", "sql": all, "sinkProps": props});
    refused(with(json!({"dataTemplate": "{{.a"})));
    refused(with(json!({"format": "zz"})));
    refused(with(json!({"fields": ["a"], "excludeFields": ["b"]})));
    refused(with(json!({"batchSize": -1})));
    let data = |data: Value| json!({"id": "t", "sql": all, "mockSource": {"s": {"data": data}}});
    assert!(refused(data(json!([1]))).contains(r#""error":1000"#));
    refused(data(json!("x")));
    refused(json!({"id": "t", "sql": "SELECT * FROM odd"}));
    let mocked = json!({"id": "t", "sql": "SELECT * FROM odd", "sinkProps": {"sendSingle": true},
        "mockSource": {"odd": {"data": [{"a": 1}], "interval": 5}}});
    let results = prepared(&server, &mocked);
    start(&server, "t");
    assert_eq!(next(&results), r#"{"a":1}"#);
    server.stop();
}

#[test]
fn a_run_that_is_started_again_goes_on() {
    let server = Server::start("trial-again", &[]);
    stream(&server, "CREATE STREAM s () WITH (DATASOURCE=\"s\", TYPE=\"memory\")");
    let trial = json!({"id": "t", "sql": "SELECT count(*) AS n FROM s GROUP BY COUNTWINDOW(20)",
        "sinkProps": {"sendSingle": true},
        "mockSource": {"s": {"data": [{"a": 1}], "interval": 10, "loop": true}}});
    let results = prepared(&server, &trial);
    for _ in 0..3 {
        start(&server, "t");
    }
    for _ in 0..3 {
        assert_eq!(next(&results), r#"{"n":20}"#);
    }
    let results = prepared(&server, &trial);
    start(&server, "t");
    for _ in 0..3 {
        assert_eq!(next(&results), r#"{"n":20}"#);
    }
    server.stop();
}
