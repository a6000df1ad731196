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

#[test]
fn names_of_columns_match_in_any_case_where_that_is_wanted() {
    for any in [true, false] {
        let word = any.to_string();
        let base = Folder::new("any-case");
        let server = Server::start_in(base, &[("KUIPER__BASIC__IGNORECASE", &word)]);
        let text = "{\"Temp\":1,\"NAME\":\"x\"}\n{\"temp\":2,\"\\u004eame\":\"y\",\"o\":{\"K\":3}}\n";
        std::fs::write(server.base.path().join("in.json"), text).unwrap();
        let extra = json!({"path": server.base.path(), "fileType": "lines"});
        let extra = extra.to_string().replace('"', "\\\"");
        let results = |id: &str, columns: &str, sql: &str| {
            let stream = format!(
                "CREATE STREAM {id} ({columns}) WITH (TYPE=\"file\", DATASOURCE=\"in.json\", \
                 FORMAT=\"json\", EXTRA=\"{extra}\")"
            );
            created(&server, "/streams", json!({ "sql": stream }));
            let path = server.base.path().join(id);
            let action = json!({"file": {"path": path, "sendSingle": true}});
            let rule = json!({"id": id, "sql": sql, "actions": [action]});
            let made = server.call("POST", "/rules", &rule.to_string());
            if made.status == 201 {
                let status = format!("/rules/{id}/status");
                until("the file ends", || server.get(&status)["status"] == "stopped");
            }
            (made.status, lines(&server, id))
        };
        let free = results("free", "", "SELECT TEMP, temp AS t, name FROM free WHERE tEmp > 0");
        let typed = results("typed", "Temp bigint, name string", "SELECT temp, Name FROM typed");
        let star = results("star", "", "SELECT *, temp + 1 AS more FROM star");
        if any {
            let rows = [r#"{"TEMP":1,"t":1,"name":"x"}"#, r#"{"TEMP":2,"t":2,"name":"y"}"#];
            assert_eq!(free.1, rows);
            assert_eq!(typed.1, [r#"{"temp":1,"Name":"x"}"#, r#"{"temp":2,"Name":"y"}"#]);
            assert_eq!(star.1[0], r#"{"NAME":"x","Temp":1,"more":2}"#);
        } else {
            assert_eq!(free.1, Vec::<String>::new());
            assert_eq!(typed.0, 400, "an unknown column");
            assert_eq!(star.1[0], r#"{"NAME":"x","Temp":1}"#);
        }
        server.stop();
    }
}
