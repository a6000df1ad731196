//! The recorded cases of the REST API, run in this process against the engine that moves no data.
//! What needs data or plans is named in NEEDS_FLOW and run against the real engine elsewhere.

mod common;

use common::Server;
use common::script::{read, run};

const NEEDS_FLOW: &[&str] = &[
    "conf-key-used-by-stream",
    "create-unknown-function",
    "create-unknown-field",
    "graph-rule",
    "finished-file-rule",
    "finished-file-rule-filter-counters",
    "runtime-exception-counters",
    "status-keys-window-plan",
    "status-keys-shared-source",
    "status-keys-two-streams-join",
    "status-keys-decode-file",
    "memory-chain-delivers",
    "explain-plain",
    "explain-window",
    "topo-plain",
    "scantables-join",
    "file-source-missing-folder",
    "list-results",
    "filter-and-project",
    "data-template-and-fields",
    "create-again-replaces",
    "used-in-a-trial",
    "metric-families",
    "op-series",
    "sink-series",
    "counters-count",
    "series-go-with-the-rule",
];

fn file(name: &str, vars: &[(&str, &str)]) {
    let server = Server::start("rest", vars);
    let (mut passed, mut failed) = (0, Vec::new());
    for sc in read(name) {
        if NEEDS_FLOW.contains(&sc.name.as_str()) {
            continue;
        }
        match run(&server.url, &sc) {
            None => passed += 1,
            Some(why) => failed.push(format!("{}: {why}", sc.name)),
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
