//! Traces that go to a collector, which here is a listener of the test.

mod common;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::mpsc;
use std::time::Duration;

use common::Server;
use serde_json::{Value, json};

/// Takes one request and gives its first line and its body.
fn collector() -> (String, mpsc::Receiver<(String, Value)>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let Ok((mut peer, _)) = listener.accept() else { return };
        let mut all = Vec::new();
        let mut buffer = [0; 4096];
        let body = loop {
            let Ok(n @ 1..) = peer.read(&mut buffer) else { return };
            all.extend_from_slice(&buffer[..n]);
            let text = String::from_utf8_lossy(&all).into_owned();
            if let Some((_, body)) = text.split_once("\r\n\r\n")
                && let Ok(body) = serde_json::from_str(body)
            {
                break body;
            }
        };
        let _ = peer.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}");
        let line = String::from_utf8_lossy(&all).lines().next().unwrap_or_default().to_owned();
        let _ = tell.send((line, body));
    });
    (address, told)
}

fn traced_rule(server: &Server) {
    let conf = json!({"data": [{"a": 7}], "interval": 20, "loop": true}).to_string();
    let put = "/metadata/sources/simulator/confKeys/quick";
    assert_eq!(server.call("PUT", put, &conf).status, 200);
    let sql = r#"CREATE STREAM s () WITH (TYPE="simulator", CONF_KEY="quick", FORMAT="json")"#;
    assert_eq!(server.call("POST", "/streams", &json!({"sql": sql}).to_string()).status, 201);
    let rule = json!({"id": "r", "sql": "SELECT a FROM s", "actions": [{"nop": {}}]}).to_string();
    assert_eq!(server.call("POST", "/rules", &rule).status, 201);
    let until = std::time::Instant::now() + Duration::from_secs(20);
    while server.call("POST", "/rules/r/trace/start", r#"{"strategy":"always"}"#).status != 200 {
        assert!(std::time::Instant::now() < until, "the rule does not run");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn check(line: &str, body: &Value, service: &str) {
    assert_eq!(line, "POST /v1/traces HTTP/1.1");
    let sent = &body["resourceSpans"][0];
    let name = json!([{"key": "service.name", "value": {"stringValue": service}}]);
    assert_eq!(sent["resource"]["attributes"], name);
    let spans = sent["scopeSpans"][0]["spans"].as_array().unwrap();
    let (first, second) = (&spans[0], &spans[1]);
    assert_eq!(first["traceId"].as_str().map(str::len), Some(32));
    assert_eq!(first["parentSpanId"], "");
    assert_eq!(second["parentSpanId"], first["spanId"]);
    assert!(first["startTimeUnixNano"].as_str().unwrap().len() == 19, "{first}");
    assert!(first["attributes"].to_string().contains(r#"{\"a\":7}"#), "{first}");
}

const KEPT: (&str, &str) = ("KUIPER__OPENTELEMETRY__ENABLELOCALSTORAGE", "true");

#[test]
fn the_collector_of_the_configuration_gets_traces() {
    let (address, told) = collector();
    let vars = [
        KEPT,
        ("KUIPER__OPENTELEMETRY__ENABLEREMOTECOLLECTOR", "true"),
        ("KUIPER__OPENTELEMETRY__REMOTEENDPOINT", &address),
        ("KUIPER__OPENTELEMETRY__SERVICENAME", "edge"),
        // what the configuration names is meant, whatever the guard says
        ("KUIPER__BASIC__ENABLEPRIVATENET", "false"),
    ];
    let server = Server::start("otlp", &vars);
    traced_rule(&server);
    let (line, body) = told.recv_timeout(Duration::from_secs(20)).unwrap();
    check(&line, &body, "edge");
    server.stop();
}

#[test]
fn a_collector_named_over_the_api_gets_traces_unless_it_lies_inside() {
    for (inside, comes) in [("true", true), ("false", false)] {
        let (address, told) = collector();
        let server = Server::start("tracer", &[KEPT, ("KUIPER__BASIC__ENABLEPRIVATENET", inside)]);
        let url = format!("http://{address}");
        let body = json!({"action": "start", "service_name": "x", "collector_url": url});
        assert_eq!(server.call("POST", "/tracer", &body.to_string()).status, 200);
        traced_rule(&server);
        let within = Duration::from_millis(if comes { 20_000 } else { 500 });
        let got = told.recv_timeout(within);
        assert_eq!(got.is_ok(), comes, "{got:?}");
        if let Ok((line, body)) = got {
            check(&line, &body, "x");
        }
        let stop = json!({"action": "stop"}).to_string();
        assert_eq!(server.call("POST", "/tracer", &stop).body, "success");
        server.stop();
    }
    let server = Server::start("tracer-bad", &[KEPT]);
    let body = json!({"action": "start", "collector_url": "ftp://x"}).to_string();
    assert_eq!(server.call("POST", "/tracer", &body).status, 400);
    server.stop();
}
