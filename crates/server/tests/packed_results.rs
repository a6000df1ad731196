//! Results that are compressed or encrypted: keys of the configuration, messages and files.

mod common;

use std::io::{Read, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use common::{Folder, Server};
use rekuiper_formats::codec::Compression;
use rekuiper_formats::codec::aes::{Aes, GcmProps, Mode};
use serde_json::{Value, json};

const OWN: [u8; 16] = *b"key of basic.aes";
const OTHER: [u8; 32] = *b"the key of security.encryption..";

fn server(with_section: bool) -> Server {
    let base = Folder::new("packed");
    let etc = base.path().join("etc");
    std::fs::create_dir_all(&etc).unwrap();
    let mut yaml = format!("basic:\n  aesKey: {}\n", STANDARD.encode(OWN));
    if with_section {
        yaml += "security:\n  encryption:\n    algorithm: aes\n    properties:\n      mode: cfb\n";
        yaml += &format!("    key: {}\n", STANDARD.encode(OTHER));
    }
    std::fs::write(etc.join("kuiper.yaml"), yaml).unwrap();
    let server = Server::start_in(base, &[]);
    let stream = r#"CREATE STREAM s () WITH (DATASOURCE="x", TYPE="simulator", CONF_KEY="k")"#;
    let rows = json!({"data": [{"a": 1}, {"a": 2}], "interval": 1, "loop": false});
    let key = "/metadata/sources/simulator/confKeys/k";
    assert_eq!(server.call("PUT", key, &rows.to_string()).status, 200);
    assert_eq!(server.call("POST", "/streams", &json!({"sql": stream}).to_string()).status, 201);
    server
}

/// Runs a rule with one action to its end.
fn run(server: &Server, id: &str, action: Value) {
    let rule = json!({"id": id, "sql": "SELECT a FROM s", "actions": [action]}).to_string();
    let made = server.call("POST", "/rules", &rule);
    assert_eq!(made.status, 201, "{}", made.body);
    let until = Instant::now() + Duration::from_secs(20);
    while server.get(&format!("/rules/{id}/status"))["status"] != "stopped" {
        assert!(Instant::now() < until, "rule {id} does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn unzipped(bytes: &[u8]) -> String {
    let mut out = Vec::new();
    Compression::Gzip.decompress(bytes, 1 << 20, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

const LINES: &str = "{\"a\":1}\n{\"a\":2}";

fn file(path: &Path, more: Value) -> Value {
    let mut props = json!({"path": path, "sendSingle": true});
    for (key, value) in more.as_object().unwrap() {
        props[key] = value.clone();
    }
    json!({ "file": props })
}

#[test]
fn files_are_packed_as_a_whole_and_each_encryption_has_its_key() {
    let server = server(true);
    let path = |name: &str| server.base.path().join(name);
    let read = |name: &str| std::fs::read(path(name)).unwrap();
    run(&server, "plain", file(&path("plain"), json!({})));
    assert_eq!(read("plain"), LINES.as_bytes());
    run(&server, "zipped", file(&path("zipped"), json!({"compression": "gzip"})));
    assert_eq!(unzipped(&read("zipped")), LINES);
    run(&server, "sealed", file(&path("sealed"), json!({"encryption": "aes"})));
    let sealed = Aes::new(&OWN, Mode::Cfb).unwrap().decrypt(&read("sealed")).unwrap();
    assert_eq!(sealed, LINES.as_bytes());
    let both = json!({"encryption": "default", "compression": "gzip"});
    run(&server, "both", file(&path("both"), both));
    let both = Aes::new(&OTHER, Mode::Cfb).unwrap().decrypt(&read("both")).unwrap();
    assert_eq!(unzipped(&both), LINES);
    server.stop();
}

/// Takes requests and hands on their bodies.
fn peer() -> (String, std::sync::mpsc::Receiver<Vec<u8>>) {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (tx, rx) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        while let Ok((mut stream, _)) = listener.accept() {
            let (mut seen, mut part) = (Vec::new(), [0; 4096]);
            loop {
                let n = stream.read(&mut part).unwrap_or(0);
                seen.extend_from_slice(&part[..n]);
                let end = seen.windows(4).position(|w| w == b"\r\n\r\n");
                if n == 0 {
                    break;
                }
                let Some(end) = end else { continue };
                let head = String::from_utf8_lossy(&seen[..end]).to_lowercase();
                let length = head.split("content-length: ").nth(1).unwrap_or("0");
                let length: usize = length.lines().next().unwrap_or("0").parse().unwrap();
                if seen.len() < end + 4 + length {
                    continue;
                }
                let _ = tx.send(seen[end + 4..].to_vec());
                seen.clear();
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").unwrap();
            }
        }
    });
    (url, rx)
}

#[test]
fn messages_are_sealed_one_by_one_with_the_settings_of_their_encryption() {
    let server = server(true);
    let (url, bodies) = peer();
    let action = |more: Value| {
        let mut props = json!({"url": url, "method": "post", "sendSingle": true});
        for (key, value) in more.as_object().unwrap() {
            props[key] = value.clone();
        }
        json!({ "rest": props })
    };
    let next = || bodies.recv_timeout(Duration::from_secs(20)).unwrap();
    run(&server, "aes", action(json!({"encryption": "aes"})));
    let gcm = Aes::new(&OWN, Mode::Gcm(GcmProps::default())).unwrap();
    assert_eq!(gcm.decrypt(&next()).unwrap(), b"{\"a\":1}");
    assert_eq!(gcm.decrypt(&next()).unwrap(), b"{\"a\":2}");
    run(&server, "default", action(json!({"encryption": "default", "compression": "gzip"})));
    let cfb = Aes::new(&OTHER, Mode::Cfb).unwrap();
    assert_eq!(unzipped(&cfb.decrypt(&next()).unwrap()), "{\"a\":1}");
    for (more, why) in [
        (json!({"compression": "zstd", "compressionProps": {"windowSize": -1}}), "windowSize"),
        (json!({"encryption": "des"}), "expected aes or default"),
        (json!({"encryption": "aes", "encProps": {"mode": "ecb"}}), "mode ecb is not known"),
        (json!({"encryption": "aes", "encProps": {"iv": "YWJj"}}), "12 bytes, not of 3"),
        (json!({"encryption": "aes", "encProps": {"tagsize": 8}}), "tagsize 8"),
    ] {
        let actions = [action(more)];
        let rule = json!({"id": "bad", "sql": "SELECT a FROM s", "actions": actions});
        let refused = server.call("POST", "/rules", &rule.to_string());
        assert_eq!(refused.status, 400, "{why}");
        assert!(refused.body.contains(why), "{why}: {}", refused.body);
    }
    server.stop();
}

#[test]
fn default_needs_its_section() {
    let server = server(false);
    let rule = |encryption: &str| {
        let action = json!({"nop": {"encryption": encryption}});
        let rule = json!({"id": encryption, "sql": "SELECT a FROM s", "actions": [action]});
        server.call("POST", "/rules", &rule.to_string())
    };
    assert_eq!(rule("aes").status, 201);
    let refused = rule("default");
    assert!(refused.body.contains("set security.encryption"), "{}", refused.body);
    server.stop();
}

#[test]
fn a_form_that_is_none_is_refused_when_the_rule_is_made() {
    let server = server(false);
    for (key, wrong) in [("sendSingle", json!(3)), ("omitIfEmpty", json!("perhaps"))] {
        for fields in [json!([]), json!(["a"])] {
            let file = json!({"path": "out", "fields": fields, key: wrong});
            let rule = json!({"id": "r", "sql": "SELECT a FROM s", "actions": [{"file": file}]});
            let made = server.call("POST", "/rules", &rule.to_string());
            assert_eq!(made.status, 400, "{file}");
            assert!(made.body.contains(key), "{}", made.body);
        }
    }
    server.stop();
}
