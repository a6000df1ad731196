//! Requests out, rows in.

use rekuiper_value::Value;
use serde_json::json;

use super::*;
use crate::http::testing::TestServer;
use crate::testing::{World, error_of, lookup_of, props, show, source_of};

fn open_world() -> World {
    let world = World::new();
    world.services.private_net.store(true, std::sync::atomic::Ordering::Relaxed);
    world
}

async fn ok(body: &'static str) -> TestServer {
    TestServer::start(move |_| ("200 OK".to_string(), body.to_string())).await
}

#[tokio::test]
async fn once_without_an_interval() {
    let server = ok(r#"[{"a":1},{"a":2}]"#).await;
    let conf = json!({"url": server.url, "headers": {"X-Key": "k"}});
    let running = open_world().run(source_of(source("/rows?x=1", &props(conf))));
    let (rows, end) = running.until_end().await;
    assert_eq!(rows, [r#"{"a":1}"#, r#"{"a":2}"#]);
    end.unwrap();
    let seen = server.last();
    assert_eq!(seen.line, "GET /rows?x=1 HTTP/1.1");
    assert!(seen.headers.contains(&"x-key: k".to_string()));
    assert!(seen.headers.contains(&format!("host: 127.0.0.1:{}", server.port)));
}

#[tokio::test]
async fn every_interval_over_one_connection_with_states() {
    let server = TestServer::start(|seen| {
        let from: i64 = seen.line.split(['=', ' ']).nth(2).unwrap().parse().unwrap();
        ("200 OK".into(), format!(r#"{{"next":{},"other":1}}"#, from + 10))
    })
    .await;
    let url = format!("{}/{{{{.none}}}}?from={{{{.next}}}}", server.url).replace("{{.none}}", "r");
    let conf = json!({"url": url, "states": {"next": 5}, "interval": "1s"});
    let world = open_world();
    let mut running = world.run(source_of(source("", &props(conf))));
    assert_eq!(running.texts().await, [r#"{"next":15,"other":1}"#]);
    for want in [25, 35] {
        world.hand.advance(1000);
        assert_eq!(running.texts().await, [format!(r#"{{"next":{want},"other":1}}"#)]);
    }
    assert_eq!(*server.connections.lock().unwrap(), 1);
    assert_eq!(running.status.state(), 1);
}

#[tokio::test]
async fn errors_are_told_and_the_next_tick_tries_again() {
    let n = std::sync::atomic::AtomicUsize::new(0);
    let server = TestServer::start(move |_| {
        let n = n.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let (head, body) = [
            ("503 Busy", "later"),
            ("200 OK", "no json"),
            ("200 OK", r#"{"code":500}"#),
            ("", ""),
            ("200 OK", r#"{"code":200}"#),
            ("200 OK", r#"{"code":200}"#),
            ("200 OK", r#"{"code":201}"#),
        ][n.min(6)];
        (head.to_string(), body.to_string())
    })
    .await;
    let conf = json!({"url": server.url, "interval": 100, "responseType": "body",
                      "incremental": true});
    let world = open_world();
    let mut running = world.run(source_of(source("", &props(conf))));
    for want in ["503 Service Unavailable: later", "JSON object", "code 500", "http://127.0.0.1"] {
        let text = running.error().await;
        assert!(text.contains(want), "{text}");
        world.hand.advance(100);
    }
    assert_eq!(running.texts().await, [r#"{"code":200}"#]);
    world.hand.advance(100); // the same again is skipped
    assert_eq!(running.texts_later(&world.hand, 100).await, [r#"{"code":201}"#]);
}

#[tokio::test]
async fn no_answer_in_time() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let world = open_world();
    let mut running = world.run(source_of(source("", &props(json!({"url": url, "timeout": 70})))));
    assert!(running.is_silent().await);
    world.hand.advance(70);
    assert!(running.error().await.contains("no answer within 70 ms"));
    assert_eq!(running.status.state(), -1);
}

#[tokio::test]
async fn private_addresses_are_refused() {
    let server = ok("{}").await;
    for host in ["127.0.0.1", "localhost", "[::ffff:127.0.0.1]"] {
        let conf = json!({"url": format!("http://{host}:{}", server.port)});
        let mut running = World::new().run(source_of(source("", &props(conf))));
        let text = running.error().await;
        assert!(text.contains("is in internal network"), "{text}");
    }
    assert_eq!(*server.connections.lock().unwrap(), 0);
}

#[tokio::test]
async fn redirects_are_followed() {
    let server = TestServer::start(|seen| match seen.line.as_str() {
        "POST /a HTTP/1.1" => ("302 Found\r\nlocation: b?c=1".into(), String::new()),
        "GET /b?c=1 HTTP/1.1" => ("200 OK".into(), r#"{"a":1}"#.into()),
        _ => ("307 Again\r\nlocation: /loop".into(), String::new()),
    })
    .await;
    let conf = json!({"url": server.url, "method": "post", "body": "{}"});
    let mut running = open_world().run(source_of(source("/a", &props(conf.clone()))));
    assert_eq!(running.texts().await, [r#"{"a":1}"#]);
    let mut running = open_world().run(source_of(source("/loop", &props(conf))));
    assert!(running.error().await.contains("more than 10 redirects"));
}

#[tokio::test]
async fn oauth_tokens_are_fetched_used_and_renewed() {
    let server = TestServer::start(|seen| {
        let body = match seen.line.as_str() {
            "POST /token HTTP/1.1" => r#"{"token":"t1","refresh":"r1","ttl":"10"}"#,
            "POST /refresh HTTP/1.1" => r#"{"token":"t2","refresh":"r2","ttl":"10"}"#,
            _ => r#"{"a":1}"#,
        };
        ("200 OK".into(), body.into())
    })
    .await;
    let conf = json!({
        "url": server.url, "interval": 1000,
        "headers": {"Authorization": "Bearer {{.token}}"},
        "oAuth": {
            "access": {"url": format!("{}/token", server.url), "body": "{\"u\":1}",
                       "expire": "{{.ttl}}"},
            "refresh": {"url": format!("{}/refresh", server.url),
                        "headers": {"X": "{{.refresh}}"}, "body": ""},
        },
    });
    let world = open_world();
    let mut running = world.run(source_of(source("/d", &props(conf))));
    running.batch().await;
    let bearer = |server: &TestServer| server.last().headers.join("\n");
    assert!(bearer(&server).contains("authorization: Bearer t1"));
    world.hand.advance(5000);
    running.batch().await;
    assert!(bearer(&server).contains("authorization: Bearer t1"));
    world.hand.advance(1000);
    running.batch().await;
    assert!(bearer(&server).contains("authorization: Bearer t2"));
    let lines: Vec<String> = server.seen.lock().unwrap().iter().map(|s| s.line.clone()).collect();
    assert_eq!(lines.len(), 5);
    assert_eq!(server.seen.lock().unwrap()[0].body, r#"{"u":1}"#);
    assert!(server.seen.lock().unwrap()[3].headers.contains(&"x: r1".to_string()));
}

#[tokio::test]
async fn a_lookup_gives_whole_rows() {
    let server = ok(r#"[{"id":1,"v":"x"},{"id":2,"v":"y"},{"id":1,"v":"z"}]"#).await;
    let table = lookup_of(lookup("/t", "", &props(json!({"url": server.url}))));
    let keys = [("id".into(), Value::Float(1.0))];
    assert!(table.find(&keys).await.is_err());
    table.open(&open_world().source_cx()).await.unwrap();
    let found: Vec<String> = table.find(&keys).await.unwrap().iter().map(show).collect();
    assert_eq!(found, [r#"{"id":1,"v":"x"}"#, r#"{"id":1,"v":"z"}"#]);
}

#[test]
fn refused_when_made() {
    for (conf, word) in [
        (json!({"url": "ftp://x"}), "http://"),
        (json!({"method": "patch"}), "get, post, put or delete"),
        (json!({"bodyType": "pdf"}), "formdata"),
        (json!({"responseType": "x"}), "code or body"),
        (json!({"oauth": {"refresh": {}}}), "access"),
        (json!({"url": "http://x/{{.a"}), "property url"),
        (json!({"rootCaPath": "/no/such/file"}), "/no/such/file"),
        (json!({"certificationRaw": "eA=="}), "both or none"),
    ] {
        let error = error_of(source("", &props(conf)));
        assert!(error.fault == Fault::Config && error.text.contains(word), "{error}");
    }
}
