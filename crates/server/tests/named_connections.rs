//! Named connections: dialled when they are made, shared by rules, kept while rules use them.

mod common;

use std::time::{Duration, Instant};

use common::Server;
use rekuiper_broker::{Broker, BrokerConfig};
use serde_json::{Value, json};

fn created(server: &Server, path: &str, body: Value) {
    let made = server.call("POST", path, &body.to_string());
    assert_eq!(made.status, 201, "{}", made.body);
}

/// Waits until a path gives what is wanted.
fn until(server: &Server, path: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let got = server.get(path);
        if wanted(&got) {
            return got;
        }
        assert!(Instant::now() < until, "{path}: {got}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn status(server: &Server, id: &str, wanted: &str) -> Value {
    until(server, &format!("/connections/{id}"), |c| c["status"] == wanted)
}

#[test]
fn a_connection_is_dialled_shared_and_kept_while_it_is_used() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let settings = BrokerConfig {
        listeners: vec!["127.0.0.1:0".parse().unwrap()],
        ..BrokerConfig::default()
    };
    let broker = runtime.block_on(Broker::start(settings)).unwrap();
    let at = format!("tcp://{}", broker.local_addrs()[0]);
    let server = Server::start("connections", &[]);
    let connection = |id: &str, typ: &str, props: Value| {
        created(&server, "/connections", json!({"id": id, "typ": typ, "props": props}));
    };
    connection("plant", "mqtt", json!({"server": at}));
    let plant = status(&server, "plant", "connected");
    assert!(plant.get("err").is_none() && plant.get("refCount").is_none(), "{plant}");

    let tried = |props: Value| {
        server.call("POST", "/metadata/sources/connection/mqtt", &props.to_string())
    };
    assert_eq!(tried(json!({"server": at})).status, 200);
    assert_eq!(tried(json!({"connectionSelector": "plant"})).status, 200);
    let web = tried(json!({"server": server.url.replace("http", "tcp")}));
    assert_eq!(web.status, 400, "what is no broker is not taken for one: {}", web.body);

    connection("nobody", "mqtt", json!({"server": "tcp://127.0.0.1:1"}));
    let nobody = status(&server, "nobody", "disconnected");
    assert!(nobody["err"].as_str().unwrap().contains("127.0.0.1:1"), "{nobody}");
    connection("odd", "mqtt", json!({"server": "tcp://127.0.0.1:1", "protocolVersion": "7"}));
    assert!(status(&server, "odd", "disconnected")["err"].as_str().unwrap().contains("version"));
    connection("zz", "zz", json!({}));
    assert!(status(&server, "zz", "disconnected")["err"].as_str().unwrap().contains("zz"));
    connection("push", "httppush", json!({}));
    status(&server, "push", "connected");

    // one by a key, one by EXTRA
    let key = "/metadata/sources/mqtt/confKeys/k";
    let props = json!({"connectionSelector": "plant", "server": "tcp://127.0.0.1:1"});
    assert_eq!(server.call("PUT", key, &props.to_string()).status, 200);
    let stream = r#"CREATE STREAM a () WITH (DATASOURCE="in/a", CONF_KEY="k")"#;
    created(&server, "/streams", json!({ "sql": stream }));
    let stream = r#"CREATE STREAM b () WITH (DATASOURCE="in/b",
        EXTRA="{\"connectionSelector\":\"plant\"}")"#;
    created(&server, "/streams", json!({ "sql": stream }));
    let sink = |topic: &str| json!({"mqtt": {"topic": topic, "connectionSelector": "plant"}});
    for (id, to) in [("a", "in/b"), ("b", "out")] {
        let sql = format!("SELECT * FROM {id}");
        created(&server, "/rules", json!({"id": id, "sql": sql, "actions": [sink(to)]}));
    }
    assert_eq!(until(&server, "/connections/plant", |c| c["refCount"] == 4)["status"], "connected");
    let runs = |key: &'static str| move |s: &Value| s[key] == 1;
    until(&server, "/rules/a/status", runs("source_a_0_connection_status"));
    until(&server, "/rules/b/status", runs("source_b_0_connection_status"));
    until(&server, "/rules/b/status", runs("sink_mqtt_0_0_connection_status"));
    for (method, body) in [("DELETE", json!({})), ("PUT", json!({"id": "plant", "typ": "mqtt"}))] {
        let refused = server.call(method, "/connections/plant", &body.to_string());
        assert_eq!(refused.status, 400, "{}", refused.body);
        assert!(refused.body.contains("is used by"), "{}", refused.body);
    }
    for id in ["a", "b"] {
        assert_eq!(server.call("POST", &format!("/rules/{id}/stop"), "").status, 200);
    }
    until(&server, "/connections/plant", |c| c.get("refCount").is_none());
    runtime.block_on(broker.shutdown());
    status(&server, "plant", "disconnected");
    assert_eq!(server.call("DELETE", "/connections/plant", "").status, 200);
    assert_eq!(server.call("GET", "/connections/plant", "").status, 400);

    // what is gone, or never was, is named by the rule that wants it
    assert_eq!(server.call("POST", "/rules/a/start", "").status, 400);
    created(&server, "/rules", json!({"id": "c", "sql": "SELECT * FROM b", "actions": [sink("x")]}));
    let failed = until(&server, "/rules/c/status", |s| s["status"] == "stopped by error");
    assert!(failed["message"].as_str().unwrap().contains("connection plant"), "{failed}");
    server.stop();
}

#[test]
fn connections_are_dialled_again_after_a_restart() {
    let server = Server::start("connections-again", &[]);
    let body = json!({"id": "c", "typ": "mqtt", "props": {"server": "tcp://127.0.0.1:1"}});
    created(&server, "/connections", body);
    let server = Server::start_in(server.stop(), &[]);
    status(&server, "c", "disconnected");
    server.stop();
}
