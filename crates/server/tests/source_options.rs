//! Properties of sources as a user gives them: in a configuration key, in EXTRA, as an option of
//! the statement; and what comes out of a rule.

mod common;

use std::time::{Duration, Instant};

use common::{Folder, Server, http};
use rekuiper_formats::codec::Compression;
use serde_json::{Value, json};

fn created(server: &Server, path: &str, body: Value) {
    let made = server.call("POST", path, &body.to_string());
    assert_eq!(made.status, 201, "{}", made.body);
}

fn rule(server: &Server, id: &str, stream: &str) {
    created(server, "/streams", json!({ "sql": stream }));
    let path = server.base.path().join(id);
    let action = json!({"file": {"path": path, "sendSingle": true}});
    let sql = format!("SELECT * FROM {id}");
    created(server, "/rules", json!({"id": id, "sql": sql, "actions": [action]}));
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(20);
    while !done() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn lines(server: &Server, id: &str) -> Vec<String> {
    let text = std::fs::read_to_string(server.base.path().join(id)).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn a_delimiter_of_the_statement_reaches_a_csv_file() {
    let server = Server::start_in(Folder::new("delimiter"), &[]);
    std::fs::write(server.base.path().join("in.csv"), "a;b\n1;x\n2;y,z\n").unwrap();
    let extra = json!({"path": server.base.path(), "fileType": "csv", "hasHeader": true});
    let extra = extra.to_string().replace('"', "\\\"");
    rule(
        &server,
        "s",
        &format!(
            "CREATE STREAM s () WITH (TYPE=\"file\", DATASOURCE=\"in.csv\", DELIMITER=\";\", \
             EXTRA=\"{extra}\")"
        ),
    );
    until("the file ends", || server.get("/rules/s/status")["status"] == "stopped");
    assert_eq!(lines(&server, "s"), [r#"{"a":"1","b":"x"}"#, r#"{"a":"2","b":"y,z"}"#]);
    server.stop();
}

#[test]
fn messages_are_decompressed_and_thinned_out() {
    let server = Server::start("thinned", &[]);
    let key = |name: &str, props: Value| {
        let path = format!("/metadata/sources/httppush/confKeys/{name}");
        assert_eq!(server.call("PUT", &path, &props.to_string()).status, 200);
    };
    key("zipped", json!({"decompression": "gzip"}));
    key("slow", json!({"interval": "300ms"}));
    for (id, conf) in [("zipped", "zipped"), ("slow", "slow")] {
        let stream = format!(
            "CREATE STREAM {id} () WITH (TYPE=\"httppush\", DATASOURCE=\"/{id}\", \
             CONF_KEY=\"{conf}\")"
        );
        rule(&server, id, &stream);
    }
    let close = [("connection".to_owned(), "close".to_owned())];
    let push = |path: &str, body: &[u8]| {
        until("the path is served", || {
            http::call(&server.data_url, "POST", path, &close, body).unwrap().status == 200
        });
    };
    let mut packed = Vec::new();
    Compression::Gzip.compress(b"{\"a\":1}", Default::default(), &mut packed).unwrap();
    push("/zipped", &packed);
    until("a row", || lines(&server, "zipped") == [r#"{"a":1}"#]);
    for n in 0..20 {
        push("/slow", json!({ "n": n }).to_string().as_bytes());
    }
    let last = [r#"{"n":19}"#.to_owned()];
    until("the last row", || lines(&server, "slow").ends_with(&last));
    assert!(lines(&server, "slow").len() < 10, "{:?}", lines(&server, "slow"));
    let stop = server.call("POST", "/rules/slow/stop", "");
    assert_eq!(stop.status, 200);
    server.stop();
}
