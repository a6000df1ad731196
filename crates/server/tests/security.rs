//! What a client must not be able to do.

mod common;

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use common::{Folder, Server, http};
use serde_json::json;

fn zip_of(path: &std::path::Path, entries: &[(&str, &str)]) {
    let mut out = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
    for (name, text) in entries {
        out.start_file(*name, zip::write::SimpleFileOptions::default())
            .unwrap();
        out.write_all(text.as_bytes()).unwrap();
    }
    out.finish().unwrap();
}

#[test]
fn uploads_do_not_leave_their_folder() {
    let server = Server::start("uploads", &[]);
    let outside = server.base.path().join("data/outside.txt");
    for name in [
        "../outside.txt",
        "a/../../outside.txt",
        "/tmp/rekuiper-outside.txt",
        "..",
        "",
        "a/",
        "a\\b",
        "a\u{0}b",
    ] {
        let body = json!({"name": name, "content": "x"}).to_string();
        let headers = [("content-type".to_owned(), "application/json".to_owned())];
        let answer = http::call(
            &server.url,
            "POST",
            "/config/uploads",
            &headers,
            body.as_bytes(),
        )
        .unwrap();
        assert_eq!(answer.status, 400, "{name:?}: {}", answer.body);
    }
    assert!(!outside.exists());
    // A link that someone put into the folder is not followed out of it.
    let uploads = server.base.path().join("data/uploads");
    std::os::unix::fs::symlink("/tmp", uploads.join("link")).unwrap();
    let body = json!({"name": "link/rekuiper-x.txt", "content": "x"}).to_string();
    let headers = [("content-type".to_owned(), "application/json".to_owned())];
    let answer = http::call(
        &server.url,
        "POST",
        "/config/uploads",
        &headers,
        body.as_bytes(),
    )
    .unwrap();
    assert_eq!(answer.status, 400, "{}", answer.body);
    for path in [
        "/config/uploads/..%2Foutside.txt",
        "/config/uploads/%2e%2e%2fkuiper",
    ] {
        assert_eq!(server.call("DELETE", path, "").status, 400);
    }
    server.stop();
}

#[test]
fn names_are_not_paths() {
    let server = Server::start("names", &[]);
    let bad = ["..", "a%2Fb", "..%2F..%2Fetc", "a.b", "a%00b", "%C3%A9"];
    let paths = [
        "/streams/",
        "/rules/",
        "/schemas/protobuf/",
        "/services/",
        "/plugins/portables/",
        "/connections/",
        "/udf/javascript/",
        "/metadata/sources/mqtt/confKeys/",
    ];
    for path in paths {
        for name in bad {
            let method = if path.contains("confKeys") {
                "DELETE"
            } else {
                "GET"
            };
            let answer = server.call(method, &format!("{path}{name}"), "");
            assert_eq!(answer.status, 400, "{path}{name}: {}", answer.body);
        }
    }
    for (path, body) in [
        ("/schemas/protobuf", r#"{"name":"../x","content":"a"}"#),
        ("/services", r#"{"name":"../x","file":"file:///x"}"#),
        (
            "/plugins/portables",
            r#"{"name":"../x","file":"file:///x"}"#,
        ),
        ("/connections", r#"{"id":"../x","typ":"mqtt","props":{}}"#),
        ("/connections", r#"{"id":"x","typ":"../mqtt","props":{}}"#),
    ] {
        assert_eq!(server.call("POST", path, body).status, 400, "{path} {body}");
    }
    server.stop();
}

#[test]
fn archives_do_not_write_outside() {
    let server = Server::start("archives", &[]);
    let work = Folder::new("archives-work");
    let file = work.path().join("x.zip");
    let plugin = r#"{"executable":"x","functions":["f"]}"#;
    zip_of(
        &file,
        &[("x.json", plugin), ("x", ""), ("../../evil.txt", "evil")],
    );
    let body = json!({"name": "x", "file": format!("file://{}", file.display())}).to_string();
    assert_eq!(server.call("POST", "/plugins/portables", &body).status, 400);
    assert_eq!(server.call("POST", "/services", &body).status, 400);
    assert!(!server.base.path().join("evil.txt").exists());
    assert!(!server.base.path().join("plugins/evil.txt").exists());
    for name in ["/tmp/rekuiper-evil.txt", "a/../../evil.txt", "a\\..\\evil.txt", "c:/evil.txt"] {
        zip_of(&file, &[("x.json", plugin), ("x", ""), (name, "evil")]);
        assert_eq!(server.call("POST", "/plugins/portables", &body).status, 400, "{name}");
        assert_eq!(server.call("POST", "/services", &body).status, 400, "{name}");
    }
    let mut out = zip::ZipWriter::new(std::fs::File::create(&file).unwrap());
    let options = zip::write::SimpleFileOptions::default();
    out.start_file("x.json", options).unwrap();
    out.write_all(plugin.as_bytes()).unwrap();
    out.add_symlink("x", "/etc/passwd", options).unwrap();
    out.finish().unwrap();
    assert_eq!(server.call("POST", "/plugins/portables", &body).status, 400, "a link");
    for executable in ["../x", "/bin/sh", "a/../../x"] {
        let plugin = json!({"executable": executable, "functions": ["f"]}).to_string();
        zip_of(&file, &[("x.json", &plugin), ("x", "")]);
        assert_eq!(server.call("POST", "/plugins/portables", &body).status, 400, "{executable}");
    }
    assert!(!server.base.path().join("plugins/portable/x").exists());
    zip_of(&file, &[("x.json", plugin), ("x", "")]);
    assert_eq!(server.call("POST", "/plugins/portables", &body).status, 201);
    assert_eq!(
        server.call("DELETE", "/plugins/portables/x", "").status,
        200
    );
    server.stop();
}

#[test]
fn imports_of_schemas_stay_in_their_folder() {
    let server = Server::start("imports", &[]);
    let outside = server.base.path().join("secret.proto");
    std::fs::write(&outside, "syntax = \"proto3\"; message Secret { string a = 1; }").unwrap();
    for (n, import) in
        [outside.display().to_string(), "../../../secret.proto".into()].iter().enumerate()
    {
        let text = format!(
            "syntax = \"proto3\"; import \"{import}\"; message M {{ Secret s = 1; }}"
        );
        let body = json!({"name": format!("p{n}"), "content": text}).to_string();
        server.call("POST", "/schemas/protobuf", &body);
        let sql = format!(
            "CREATE STREAM s{n} () WITH (DATASOURCE=\"a\", TYPE=\"memory\", \
             FORMAT=\"protobuf\", SCHEMAID=\"p{n}.M\")"
        );
        server.call("POST", "/streams", &json!({"sql": sql}).to_string());
        let rule = json!({"id": "r", "sql": format!("SELECT * FROM s{n}"), "actions": [{"nop": {}}]});
        let answer = server.call("POST", "/rules", &rule.to_string());
        assert_eq!(answer.status, 400, "{import}: {}", answer.body);
    }
    server.stop();
}

#[test]
fn files_outside_are_refused_when_the_configuration_says_so() {
    let work = Folder::new("outside");
    let secret = work.path().join("secret.json");
    std::fs::write(&secret, "{}").unwrap();
    let vars = [("KUIPER__BASIC__ALLOWEXTERNALFILEACCESS", "false")];
    let server = Server::start("external", &vars);
    let uploads = server.base.path().join("data/uploads");
    std::fs::write(uploads.join("own.json"), "{}").unwrap();
    let import = |path: String| {
        let body = json!({"file": format!("file://{path}")}).to_string();
        server.call("POST", "/ruleset/import", &body).status
    };
    assert_eq!(import(uploads.join("own.json").display().to_string()), 200);
    assert_eq!(import(secret.display().to_string()), 400);
    let around = uploads
        .join("../../../")
        .join(work.path().file_name().unwrap());
    assert_eq!(
        import(around.join("secret.json").display().to_string()),
        400
    );
    std::os::unix::fs::symlink(&secret, uploads.join("link.json")).unwrap();
    assert_eq!(import(uploads.join("link.json").display().to_string()), 400);
    assert_eq!(import("/dev/zero".into()), 400);
    server.stop();
}

#[test]
fn addresses_inside_are_refused_unless_allowed() {
    let body = |url: &str| json!({"file": format!("{url}/ping")}).to_string();
    let server = Server::start("ssrf", &[("KUIPER__BASIC__ENABLEPRIVATENET", "false")]);
    for url in [
        server.url.clone(),
        "http://localhost:1".into(),
        "http://[::1]:1".into(),
        "http://169.254.169.254".into(),
        "http://0.0.0.0:1".into(),
    ] {
        let answer = server.call("POST", "/ruleset/import", &body(&url));
        assert_eq!(answer.status, 400);
        assert!(
            answer.body.contains("internal network"),
            "{url}: {}",
            answer.body
        );
    }
    // trying a connection is no way around either
    let try_it = |server: &Server, typ: &str, url: &str| {
        let path = format!("/metadata/{typ}");
        server.call("POST", &path, &json!({ "url": url }).to_string())
    };
    for url in [server.url.as_str(), "http://169.254.169.254", "http://x@127.0.0.1:1/y"] {
        for typ in ["sources/connection/httppull", "sinks/connection/rest"] {
            let answer = try_it(&server, typ, url);
            assert!(answer.body.contains("internal network"), "{url}: {}", answer.body);
        }
    }
    server.stop();
    let server = Server::start("ssrf-open", &[("KUIPER__BASIC__ENABLEPRIVATENET", "true")]);
    let answer = server.call("POST", "/ruleset/import", &body(&server.url.clone()));
    assert!(!answer.body.contains("internal network"), "{}", answer.body);
    let reached = try_it(&server, "sinks/connection/rest", &server.url);
    assert_eq!(reached.status, 200, "{}", reached.body);
    server.stop();
}

/// Well formed, of the right issuer and for us, but signed with another key than the one in
/// `etc/mgmt`. The key was made for this token and thrown away.
const OF_ANOTHER_KEY: &str = concat!(
    "eyJhbGciOiJSUzI1NiIsInR5cCI6IkpXVCJ9.eyJpc3MiOiJjb25mb3JtYW5jZS5wdWIiLCJhdWQiOiJlS3VpcGVyI",
    "n0.IyJJdcpl7TnRevZAxWmIHQwMVLSyOioVMTQ_GnhgREGIrHuizYDVoDDphitFSOW19rvOy1AhvmQgmyHNm3d8wVW",
    "gQduIdxjSSyeg5qNEqY8qwCXKredwNbHK2WfNtJ1o1sntZCMWoJQ0LYdNXaUpOdsvZb3egK7pCPUQ1kmR7Yraea-ud",
    "ww7es7uFK-dBszkbzsqnlY4fwDUx2_9B7XsDbLfxbssoIyJMFS6EbSP23PiiRKiA7EpitJbk5CvfpV9erm9Vah6tX8",
    "I46x3nrxzduYDQCZkgIvMAg5x0hFzesDQJT-VJRAzwgaWVKM1o-XT8nACrudLo-rbBA0Ac92XPg",
);

#[test]
fn a_token_counts_only_with_the_signature_of_its_issuer() {
    let base = Folder::new("wrong-key");
    let mgmt = base.path().join("etc/mgmt");
    std::fs::create_dir_all(&mgmt).unwrap();
    let key = include_bytes!("rest_needs/conformance.pub");
    std::fs::write(mgmt.join("conformance.pub"), key).unwrap();
    let server = Server::start_in(base, &[("KUIPER__BASIC__AUTHENTICATION", "true")]);
    let get = |token: &str| {
        let headers = [("authorization".to_owned(), token.to_owned())];
        http::call(&server.url, "GET", "/streams", &headers, b"").unwrap()
    };
    let answer = get(OF_ANOTHER_KEY);
    assert_eq!(answer.status, 401);
    assert!(answer.body.contains("signature"), "{}", answer.body);
    // without its signature, with an empty one, and with the claims of one token under another's
    let parts: Vec<&str> = OF_ANOTHER_KEY.split('.').collect();
    for token in [
        format!("{}.{}", parts[0], parts[1]),
        format!("{}.{}.", parts[0], parts[1]),
        format!("{}.{}.{}", parts[0], parts[1], "A".repeat(342)),
        OF_ANOTHER_KEY.repeat(100),
        "..".into(),
    ] {
        assert_eq!(get(&token).status, 401, "{token}");
    }
    // every route asks for a token but those that tell nothing of what is defined
    for route in rekuiper_server::routes::all() {
        let path = route.path.replace(['{', '}'], "");
        let answer = http::call(&server.url, route.method.as_str(), &path, &[], b"").unwrap();
        let open = ["/", "/ping", "/openapi.json"].contains(&route.path);
        assert_eq!(answer.status == 401, !open, "{} {path}: {}", route.method, answer.status);
    }
    server.stop();
}

#[test]
fn odd_bodies_never_crash_or_hang() {
    let server = Server::start("fuzz", &[]);
    let deep = |open: &str, n: usize| open.repeat(n);
    let bodies = [
        String::new(),
        "null".into(),
        "0".into(),
        "[]".into(),
        "{}".into(),
        "\"\"".into(),
        "{\"id\":null,\"sql\":null,\"actions\":null}".into(),
        "{\"id\":[],\"sql\":{},\"actions\":[[]],\"tags\":{},\"options\":[]}".into(),
        "{\"name\":1,\"content\":2,\"file\":[]}".into(),
        "{\"sql\":\"CREATE STREAM\u{0} x\"}".into(),
        deep("[", 200_000),
        deep("{\"a\":", 100_000),
        format!("{{\"sql\":\"SELECT {}1\"}}", deep("(", 50_000)),
        format!(
            "{{\"sql\":\"CREATE STREAM s (a {}bigint\"}}",
            deep("array(", 20_000)
        ),
        format!("{{\"content\":\"{}\"}}", "a: [".repeat(10_000)),
        "\u{feff}{}".into(),
        "{\"a\":1e999}".into(),
    ];
    for route in rekuiper_server::routes::all() {
        if route.path == "/stop" {
            continue;
        }
        let path = route.path.replace(['{', '}'], "");
        for body in &bodies {
            let answer = http::call(
                &server.url,
                route.method.as_str(),
                &path,
                &[],
                body.as_bytes(),
            );
            let answer = answer.unwrap_or_else(|e| panic!("{} {path}: {e}", route.method));
            let head: String = body.chars().take(40).collect();
            assert!(
                answer.status < 500,
                "{} {path} {head}: {answer:?}",
                route.method
            );
        }
    }
    assert_eq!(server.call("GET", "/ping", "").status, 200);
    server.stop();
}

#[test]
fn a_client_that_sends_nothing_keeps_nobody_out() {
    let server = Server::start("slow", &[]);
    let at = server.url.trim_start_matches("http://").to_owned();
    let idle: Vec<TcpStream> = (0..50).map(|_| TcpStream::connect(&at).unwrap()).collect();
    assert_eq!(server.call("GET", "/ping", "").status, 200);
    drop(idle);
    let mut odd = TcpStream::connect(&at).unwrap();
    odd.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    odd.write_all(b"\x16\x03\x01 nonsense\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    let _ = odd.read_to_end(&mut answer);
    assert_eq!(server.call("GET", "/ping", "").status, 200);
    server.stop();
}
