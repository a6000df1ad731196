//! The recorded cases of the REST API, run against a server in this process.

mod common;

use common::Server;
use common::script::{read, run};

/// Cases not followed, with the reason; each must still differ, so that the list cannot rot.
const NOT_FOLLOWED: &[(&str, &str)] = &[];

fn file(name: &str, vars: &[(&str, &str)]) {
    let server = Server::start("rest", vars);
    let (mut passed, mut failed) = (0, Vec::new());
    for sc in read(name) {
        let left_out = NOT_FOLLOWED.iter().any(|(name, _)| *name == sc.name);
        match run(&server.url, &sc) {
            None if left_out => failed.push(format!("{} passes: unlist it", sc.name)),
            Some(why) if !left_out => failed.push(format!("{}: {why}", sc.name)),
            _ => passed += 1,
        }
    }
    assert!(
        failed.is_empty(),
        "{name}: {} failed\n{}",
        failed.len(),
        failed.join("\n")
    );
    assert!(passed > 0, "{name} holds no case that runs");
    server.stop();
}

macro_rules! files {
    ($($test:ident),*) => {
        $(#[test]
        fn $test() {
            file(concat!("rest/", stringify!($test), ".jsonl"), &[]);
        })*
    };
}

files!(
    connections,
    data,
    deviations,
    metadata,
    plugins,
    rules,
    rules_more,
    rules_tags_bulk,
    ruletest,
    schemas,
    services,
    streams,
    system,
    tables,
    uploads,
    zz_data_reset
);

#[test]
fn scripts() {
    file("rest_needs/script.jsonl", &[]);
}

#[test]
fn traces() {
    let vars = [("KUIPER__OPENTELEMETRY__ENABLELOCALSTORAGE", "true")];
    file("rest_needs/trace.jsonl", &vars);
}

#[test]
fn metrics_at_the_rest_port() {
    let vars = [("KUIPER__BASIC__PROMETHEUSPORT", "0")];
    file("rest_needs/prometheus.jsonl", &vars);
}

#[test]
fn tokens() {
    let base = common::Folder::new("auth");
    let mgmt = base.path().join("etc/mgmt");
    std::fs::create_dir_all(&mgmt).unwrap();
    let key = include_bytes!("rest_needs/conformance.pub");
    std::fs::write(mgmt.join("conformance.pub"), key).unwrap();
    let server = Server::start_in(base, &[("KUIPER__BASIC__AUTHENTICATION", "true")]);
    for sc in read("rest_needs/auth.jsonl") {
        assert_eq!(run(&server.url, &sc), None, "{}", sc.name);
    }
    server.stop();
}
