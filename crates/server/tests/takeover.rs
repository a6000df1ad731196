//! What a real eKuiper 2.4 wrote: its data folder and its exports.

mod common;

use std::path::{Path, PathBuf};

use common::{Folder, Server};
use serde_json::{Value, json};

fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/samples")
        .join(name)
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// Everything but rules, whose texts are compared as JSON.
fn same(export: &Value, want: &Value) {
    for key in ["streams", "tables", "Service", "uploads", "scripts"] {
        assert_eq!(export[key], want[key], "{key}");
    }
    for key in [
        "rules",
        "sourceConfig",
        "sinkConfig",
        "connectionConfig",
        "Schema",
    ] {
        let read = |v: &Value| -> Value {
            let texts = v[key].as_object().unwrap().iter();
            let parsed = texts.map(|(k, t)| {
                let t: Value = serde_json::from_str(t.as_str().unwrap()).unwrap();
                (k.clone(), t)
            });
            parsed.collect::<serde_json::Map<_, _>>().into()
        };
        assert_eq!(read(export), read(want), "{key}");
    }
}

fn exported() -> Value {
    serde_json::from_slice(&std::fs::read(sample("data-export.json")).unwrap()).unwrap()
}

#[test]
fn the_data_folder_is_taken_over_and_stays_as_it_is() {
    let base = Folder::new("takeover");
    let data = base.path().join("data");
    copy(&sample("ekuiper-data"), &data);
    let before = std::fs::read(data.join("sqliteKV.db")).unwrap();
    let server = Server::start_in(base, &[]);
    same(&server.get("/data/export"), &exported());
    let schema = server.get("/schemas/protobuf/person");
    assert_eq!(schema["name"], "person");
    assert!(Path::new(schema["file"].as_str().unwrap()).is_file());
    let base = server.stop();
    let data = base.path().join("data");
    assert_eq!(std::fs::read(data.join("sqliteKV.db")).unwrap(), before);
    assert!(!data.join("sqliteKV.db-wal").exists() && !data.join("sqliteKV.db-shm").exists());

    // Once only: what is dropped afterwards does not come back.
    let server = Server::start_in(base, &[]);
    assert_eq!(server.call("DELETE", "/rules/hot_lines", "").status, 200);
    let server = Server::start_in(server.stop(), &[]);
    assert_eq!(server.call("GET", "/rules/hot_lines", "").status, 404);
    assert_eq!(server.call("GET", "/rules/enrich", "").status, 200);
    server.stop();
}

/// The rule that ran in the original joins a lookup table: it must be open without anybody asking.
#[test]
fn what_was_taken_over_works() {
    let base = Folder::new("takeover-works");
    copy(&sample("ekuiper-data"), &base.path().join("data"));
    let server = Server::start_in(base, &[]);
    let created = |path: &str, body: Value| {
        let made = server.call("POST", path, &body.to_string());
        assert_eq!(made.status, 201, "{}", made.body);
    };
    let feed = r#"CREATE STREAM feed () WITH (DATASOURCE="/feed", TYPE="httppush")"#;
    created("/streams", json!({ "sql": feed }));
    let rule = |id: &str, sql: &str, topic: &str| {
        let action = json!({"memory": {"topic": topic, "sendSingle": true}});
        created("/rules", json!({"id": id, "sql": sql, "actions": [action]}));
    };
    rule("names", "SELECT site, name FROM feed WHERE isNull(v)", "sites");
    rule("values", "SELECT site, v FROM feed WHERE v > 0", "meters");
    let push = |body: Value| {
        let url = &server.data_url;
        let close = [("connection".to_owned(), "close".to_owned())];
        let body = body.to_string();
        let sent = || common::http::call(url, "POST", "/feed", &close, body.as_bytes());
        while sent().unwrap().status != 200 {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    };
    let status = |key: &str| server.get("/rules/enrich/status")[key].clone();
    push(json!({"site": "a", "name": "Alpha"}));
    let until = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while status("sink_nop_0_0_records_in_total") == 0 {
        assert!(std::time::Instant::now() < until, "no result");
        push(json!({"site": "a", "v": 5}));
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(status("op_sites_0_last_exception"), "");
    server.stop();
}

#[test]
fn an_export_comes_back_as_it_was() {
    let server = Server::start("import", &[]);
    let content = std::fs::read_to_string(sample("data-export.json")).unwrap();
    let answer = server.call(
        "POST",
        "/data/import",
        &json!({"content": content}).to_string(),
    );
    assert_eq!(answer.status, 200, "{}", answer.body);
    same(&server.get("/data/export"), &exported());
    server.stop();
}

#[test]
fn the_yaml_form_is_read_and_written() {
    let server = Server::start("yaml", &[]);
    let content = std::fs::read_to_string(sample("export_v2.yaml")).unwrap();
    let answer = server.call(
        "POST",
        "/v2/data/import",
        &json!({"content": content}).to_string(),
    );
    assert_eq!((answer.status, answer.body.as_str()), (200, "success"));
    let first = server.get("/data/export");
    for key in ["streams", "tables", "Schema"] {
        let names = |v: &Value| {
            v[key]
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect::<Vec<_>>()
        };
        assert_eq!(names(&first), names(&exported()), "{key}");
    }
    let rule = server.get("/rules/hot_lines");
    assert_eq!(rule["options"]["checkpointInterval"], "1m0s");
    let yaml = server.call("GET", "/v2/data/export", "").body;
    let other = Server::start("yaml-other", &[]);
    let answer = other.call(
        "POST",
        "/v2/data/import",
        &json!({"content": yaml}).to_string(),
    );
    assert_eq!(answer.status, 200, "{}", answer.body);
    assert_eq!(other.get("/data/export")["streams"], first["streams"]);
    assert_eq!(other.call("GET", "/v2/data/export", "").body, yaml);
    server.stop();
    other.stop();
}

/// Everything of the sample, with the same names and kinds; what is more stands in `more`.
fn shaped(path: &str, ours: &Value, sample: &Value, more: &mut Vec<String>) {
    match (ours, sample) {
        (Value::Object(ours), Value::Object(sample)) => {
            for (key, value) in sample {
                let own = ours.get(key).unwrap_or_else(|| panic!("{path}: {key} is missing"));
                shaped(&format!("{path}.{key}"), own, value, more);
            }
            let added = ours.keys().filter(|key| !sample.contains_key(*key));
            more.extend(added.map(|key| format!("{path}.{key}")));
        }
        (Value::Array(ours), Value::Array(sample)) => {
            assert_eq!(ours.len(), sample.len(), "{path}");
            for (at, (ours, sample)) in ours.iter().zip(sample).enumerate() {
                shaped(&format!("{path}.{at}"), ours, sample, more);
            }
        }
        _ => assert_eq!(
            std::mem::discriminant(ours),
            std::mem::discriminant(sample),
            "{path}: {ours} for {sample}"
        ),
    }
}

/// What this server exports, eKuiper must be able to read.
#[test]
fn exports_have_the_form_of_the_original() {
    let base = Folder::new("export-form");
    copy(&sample("ekuiper-data"), &base.path().join("data"));
    let server = Server::start_in(base, &[]);
    let text = |name: &str| std::fs::read_to_string(sample(name)).unwrap();
    let yaml = |text: &str| serde_norway::from_str::<Value>(text).unwrap();
    let json = |text: &str| serde_json::from_str::<Value>(text).unwrap();
    let mut more = Vec::new();
    let ruleset = server.call("POST", "/ruleset/export", "").body;
    shaped("ruleset", &json(&ruleset), &json(&text("ruleset.json")), &mut more);
    shaped("data", &server.get("/data/export"), &exported(), &mut more);
    assert_eq!(more, Vec::<String>::new());
    let ours = server.call("GET", "/v2/data/export", "").body;
    shaped("v2", &yaml(&ours), &yaml(&text("export_v2.yaml")), &mut more);
    // the values that hold where a rule says nothing are written out
    assert!(more.iter().all(|path| path.starts_with("v2.rules.") && path.contains(".options")));
    // and the texts of rules say the same
    let rules = |set: &Value| -> Vec<Value> {
        let all = set["rules"].as_object().unwrap().values();
        all.map(|rule| json(rule.as_str().unwrap())).collect()
    };
    assert_eq!(rules(&json(&ruleset)), rules(&json(&text("ruleset.json"))));
    server.stop();
}

#[test]
fn a_ruleset_is_taken_in() {
    let server = Server::start("ruleset", &[]);
    let content = std::fs::read_to_string(sample("ruleset.json")).unwrap();
    let answer = server.call(
        "POST",
        "/ruleset/import",
        &json!({"content": content}).to_string(),
    );
    assert_eq!(answer.body, "imported 3 streams, 1 tables and 3 rules");
    server.stop();
}

#[test]
fn what_etc_holds_is_read_at_start() {
    let base = Folder::new("etc");
    let etc = base.path().join("etc");
    std::fs::create_dir_all(etc.join("sources")).unwrap();
    std::fs::create_dir_all(etc.join("connections")).unwrap();
    std::fs::write(etc.join("kuiper.yaml"), "basic:\n  logLevel: warn\n").unwrap();
    let mqtt = "default:\n  server: tcp://10.0.0.9:1883\nPlant:\n  protocolVersion: '5'\n";
    std::fs::write(etc.join("mqtt_source.yaml"), mqtt).unwrap();
    std::fs::write(
        etc.join("sources/file.yaml"),
        "Default:\n  fileType: lines\n",
    )
    .unwrap();
    let connections = "mqtt:\n  one:\n    server: tcp://10.0.0.8:1883\n    protocolVersion: '5'\n";
    std::fs::write(etc.join("connections/connection.yaml"), connections).unwrap();
    let init = json!({
        "streams": {"first": "CREATE STREAM first () WITH (TYPE=\"memory\", DATASOURCE=\"x\")"},
        "tables": {},
        "rules": {"r": r#"{"id":"r","sql":"SELECT * FROM first","actions":[{"nop":{}}]}"#},
    });
    std::fs::write(etc.join("init.json"), init.to_string()).unwrap();
    let vars = [
        ("MQTT_SOURCE__DEFAULT__QOS", "2"),
        ("FILE__ENVCONF__FILETYPE", "csv"),
        ("CONNECTION__MQTT__TWO__SERVER", "tcp://10.0.0.7:1883"),
    ];
    let server = Server::start_in(base, &vars);
    let mqtt = server.get("/metadata/sources/yaml/mqtt");
    assert_eq!(
        mqtt["default"],
        json!({"server": "tcp://10.0.0.9:1883", "qos": 2})
    );
    assert_eq!(mqtt["plant"], json!({"protocolVersion": "5"}));
    let file = server.get("/metadata/sources/yaml/file");
    assert_eq!(
        file,
        json!({"default": {"fileType": "lines"}, "envconf": {"fileType": "csv"}})
    );
    let one = server.get("/connections/one");
    assert_eq!(
        one["props"],
        json!({"server": "tcp://10.0.0.8:1883", "protocolVersion": "5"})
    );
    assert_eq!(
        server.get("/connections/two")["props"]["server"],
        "tcp://10.0.0.7:1883"
    );
    assert_eq!(server.get("/streams"), json!(["first"]));
    assert_eq!(server.get("/rules")[0]["id"], "r");
    // The file is taken in once.
    assert_eq!(server.call("DELETE", "/rules/r", "").status, 200);
    assert_eq!(server.call("DELETE", "/connections/one", "").status, 200);
    let server = Server::start_in(server.stop(), &vars);
    assert_eq!(server.get("/rules"), json!([]));
    assert_eq!(server.call("GET", "/connections/one", "").status, 400);
    server.stop();
}

#[test]
fn schemas_and_services_of_folders_are_there() {
    let base = Folder::new("folders");
    let file = |path: &str, text: &str| {
        let path = base.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let message = |field: &str| format!("syntax = \"proto3\"; message M {{ string {field} = 1; }}");
    file("etc/schemas/protobuf/one.proto", &message("of_etc"));
    file("etc/schemas/protobuf/two.proto", &message("of_etc"));
    file("etc/schemas/protobuf/three@2.proto", &message("of_etc"));
    file("data/schemas/protobuf/two.proto", &message("of_data"));
    file("data/schemas/protobuf/three.proto", &message("of_data"));
    file("etc/schemas/protobuf/not a name.proto", &message("x"));
    let service = |address: &str| {
        let interface = json!({"address": address, "protocol": "rest",
            "schemaType": "protobuf", "schemaFile": "calc.proto"});
        json!({"about": {}, "interfaces": {"i": interface}}).to_string()
    };
    let proto = "syntax = \"proto3\"; service S { rpc Twice(M) returns (M) {} }
        message M { int64 a = 1; }";
    for dir in ["etc", "data"] {
        file(&format!("{dir}/services/both.json"), &service(&format!("http://{dir}:1")));
        file(&format!("{dir}/services/{dir}.json"), &service("http://x:1"));
        file(&format!("{dir}/services/schemas/calc.proto"), proto);
        file(&format!("{dir}/services/broken.json"), "{");
    }
    let server = Server::start_in(base, &[]);
    let mut names = server.get("/schemas/protobuf");
    names.as_array_mut().unwrap().sort_by_key(Value::to_string);
    assert_eq!(names, json!(["one", "three", "two"]));
    let field = |name: &str| {
        let schema = server.get(&format!("/schemas/protobuf/{name}"));
        let text = schema["content"].as_str().unwrap();
        ["of_etc", "of_data"].into_iter().find(|f| text.contains(f)).unwrap()
    };
    assert_eq!(["one", "two", "three"].map(field), ["of_etc", "of_data", "of_etc"]);
    let stream = r#"CREATE STREAM s () WITH (DATASOURCE="x", FORMAT="protobuf", SCHEMAID="one.M")"#;
    let made = server.call("POST", "/streams", &json!({"sql": stream}).to_string());
    assert_eq!(made.status, 201, "{}", made.body);
    assert!(server.get("/streams/s/schema")["of_etc"].is_object());

    assert_eq!(server.get("/services"), json!(["both", "data", "etc"]));
    let address = &server.get("/services/both")["Interfaces"]["i"]["Addr"];
    assert_eq!(address, "http://data:1");
    assert_eq!(server.get("/services/functions/Twice")["MethodName"], "Twice");
    assert_eq!(server.get("/data/export")["Service"], json!({}), "nobody installed them");
    for path in ["/schemas/protobuf/one", "/services/data"] {
        assert_eq!(server.call("DELETE", path, "").status, 200, "{path}");
    }
    let base = server.stop();
    assert!(base.path().join("etc/schemas/protobuf/one.proto").is_file());
    let server = Server::start_in(base, &[]);
    assert_eq!(server.get("/services"), json!(["both", "etc"]));
    server.stop();
}
