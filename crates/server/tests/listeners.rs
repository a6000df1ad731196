//! TLS, CORS, the data server, and what many rules cost at the start.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::{Duration, Instant};

use common::{Folder, Server, http};
use rekuiper_server::data_server::{DataServer, Deliver};
use serde_json::json;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

#[test]
fn https_with_a_certificate_of_ones_own() {
    let base = Folder::new("tls");
    let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    let (cert, key) = (base.path().join("c.pem"), base.path().join("k.pem"));
    std::fs::write(&cert, made.cert.pem()).unwrap();
    std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let (cert, key) = (cert.display().to_string(), key.display().to_string());
    let vars = [
        ("KUIPER__BASIC__RESTTLS__CERTFILE", cert.as_str()),
        ("KUIPER__BASIC__RESTTLS__KEYFILE", key.as_str()),
    ];
    let server = Server::start_in(base, &vars);
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from_pem_file(&cert).unwrap())
        .unwrap();
    let ring = Arc::new(tokio_rustls::rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(ring)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let at = server.url.trim_start_matches("http://");
    let name = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut stream = StreamOwned::new(client, TcpStream::connect(at).unwrap());
    stream
        .write_all(b"GET /streams HTTP/1.1\r\nhost: x\r\n\r\n")
        .unwrap();
    let mut answer = String::new();
    let _ = stream.read_to_string(&mut answer);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.ends_with("[]"), "{answer}");
    // Plain text at the same port gets nowhere.
    assert!(http::call(&server.url, "GET", "/ping", &[], b"").is_err());
    server.stop();
}

#[test]
fn connections_are_closed_after_each_answer() {
    let server = Server::start("close", &[]);
    let answer = server.call("GET", "/ping", "");
    assert_eq!(answer.header("connection"), "close");
    assert_eq!(answer.header("access-control-allow-origin"), "");
    server.stop();
}

#[test]
fn pprof_says_what_there_is() {
    let ask = |url: &str, path: &str| {
        let answer = http::call(url, "GET", path, &[], b"").unwrap();
        (answer.status, answer.body)
    };
    let off = Server::start("pprof-off", &[]);
    assert_eq!(ask(&off.url, "/debug/pprof/").0, 404);
    assert_eq!(ask(&off.url, "/debug/pprof/heap").0, 404);
    off.stop();

    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let port = free.to_string();
    let on = ("KUIPER__BASIC__PPROF", "true");
    let own = Server::start("pprof-own", &[on, ("KUIPER__BASIC__PPROFPORT", &port)]);
    assert_eq!(ask(&own.url, "/debug/pprof/").0, 404, "not at the REST port");
    let shared = Server::start("pprof-rest", &[on, ("KUIPER__BASIC__PPROFPORT", "0")]);
    for url in [&format!("http://127.0.0.1:{free}"), &shared.url] {
        let (status, figures) = ask(url, "/debug/pprof/");
        assert_eq!(status, 200);
        let resident = figures.lines().find_map(|l| l.strip_prefix("resident_bytes "));
        assert!(resident.unwrap().parse::<u64>().unwrap() > 1 << 20, "{figures}");
        let (status, why) = ask(url, "/debug/pprof/profile?seconds=1");
        assert!(status == 501 && why.contains("no Go program"), "{status} {why}");
        assert_eq!(ask(url, "/debug/pprof/nothing").0, 404);
    }
    own.stop();
    shared.stop();
}

/// A data server of its own behind a listener of its own.
fn data_server() -> (DataServer, String, tokio::runtime::Runtime) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let listener = runtime
        .block_on(tokio::net::TcpListener::bind("127.0.0.1:0"))
        .unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let data = DataServer::new(0);
    let own = data.clone();
    runtime.spawn(async move {
        let (_stop, stopped) = tokio::sync::watch::channel(false);
        let listener = rekuiper_server::web::serve::Listener {
            listener,
            tls: None,
            long_lived: true,
        };
        let answer: rekuiper_server::web::serve::Answer =
            Arc::new(move |request| Box::pin(own.clone().answer(request)));
        listener.run(answer, stopped).await;
    });
    (data, url, runtime)
}

fn close() -> [(String, String); 1] {
    [("connection".to_owned(), "close".to_owned())]
}

#[test]
fn requests_reach_all_who_registered_the_path() {
    let (data, url, _runtime) = data_server();
    let (tx, rx) = std::sync::mpsc::channel();
    let to: Deliver = Arc::new(move |body| {
        let tx = tx.clone();
        Box::pin(async move { drop(tx.send(body)) })
    });
    let one = data
        .push("/in", axum::http::Method::POST, to.clone())
        .unwrap();
    let two = data.push("/in", axum::http::Method::POST, to).unwrap();
    let answer = http::call(&url, "POST", "/in", &close(), b"hello").unwrap();
    assert_eq!((answer.status, answer.body.as_str()), (200, "ok"));
    assert_eq!(rx.try_iter().count(), 2);
    assert_eq!(
        http::call(&url, "PUT", "/in", &close(), b"x")
            .unwrap()
            .status,
        405
    );
    drop(one);
    http::call(&url, "POST", "/in", &close(), b"again").unwrap();
    assert_eq!(rx.try_iter().count(), 1);
    drop(two);
    assert_eq!(
        http::call(&url, "POST", "/in", &close(), b"x")
            .unwrap()
            .status,
        404
    );
}

#[test]
fn events_reach_listeners_and_stop_with_the_path() {
    let (data, url, _runtime) = data_server();
    let (events, registration) = data.events("/out").unwrap();
    assert_eq!(events.send("nobody hears"), 0);
    let heard = http::events(&format!("{url}/out")).unwrap();
    assert_eq!(events.send("{\"a\":1}"), 1);
    let line = heard.recv_timeout(Duration::from_secs(5)).unwrap();
    assert_eq!(line, "{\"a\":1}");
    drop((events, registration));
    assert!(heard.recv_timeout(Duration::from_secs(5)).is_err());
    assert!(http::events(&format!("{url}/out")).is_err());
}

#[test]
fn websockets_carry_text_both_ways() {
    let (data, url, _runtime) = data_server();
    let (tx, rx) = std::sync::mpsc::channel();
    let to: Deliver = Arc::new(move |body| {
        let tx = tx.clone();
        Box::pin(async move { drop(tx.send(body)) })
    });
    let (events, _registration) = data.socket("/ws", Some(to)).unwrap();
    let mut stream = TcpStream::connect(url.trim_start_matches("http://")).unwrap();
    stream
        .set_read_timeout(Some(Duration::from_secs(5)))
        .unwrap();
    stream
        .write_all(
            b"GET /ws HTTP/1.1\r\nhost: x\r\nconnection: upgrade\r\nupgrade: websocket\r\n\
              sec-websocket-version: 13\r\nsec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n",
        )
        .unwrap();
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    assert!(head.starts_with(b"HTTP/1.1 101"));
    // A masked text frame with the mask 0.
    stream.write_all(b"\x81\x82\0\0\0\0hi").unwrap();
    let got = rx.recv_timeout(Duration::from_secs(5)).unwrap();
    assert_eq!(&got[..], b"hi");
    assert_eq!(events.send("yo"), 1);
    let mut frame = [0; 4];
    stream.read_exact(&mut frame).unwrap();
    assert_eq!(&frame, b"\x81\x02yo");
}

#[test]
fn a_thousand_rules_are_back_at_once() {
    let server = Server::start("many", &[]);
    let mut content = json!({"streams": {}, "tables": {}, "rules": {}});
    content["streams"]["s"] = "CREATE STREAM s () WITH (TYPE=\"memory\", DATASOURCE=\"x\")".into();
    for i in 0..1000 {
        let id = format!("r{i}");
        let rule = json!({"id": id, "sql": "SELECT * FROM s", "actions": [{"nop": {}}]});
        content["rules"][&id] = rule.to_string().into();
    }
    let body = json!({"content": content.to_string()}).to_string();
    assert_eq!(server.call("POST", "/data/import", &body).status, 200);
    let base = server.stop();
    let begin = Instant::now();
    let server = Server::start_in(base, &[]);
    let rules = server.get("/rules");
    let took = begin.elapsed();
    assert_eq!(rules.as_array().unwrap().len(), 1000);
    assert!(took < Duration::from_secs(3), "{took:?} in a debug build");
    server.stop();
}
