//! Any body to any route that takes one, against the router itself: no panic, no hang, no answer
//! of 500 and above, and what the server then says of itself is still JSON.
//!
//! The first byte picks the route, in the order of path and method; the rest is the body. Bodies
//! that hold the word `path` are left out: a file sink may be told to write anywhere.
#![no_main]

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use axum::Router;
use axum::body::Body;
use axum::http::{Method, Request, StatusCode};
use http_body_util::BodyExt;
use libfuzzer_sys::fuzz_target;
use rekuiper_connect::Services;
use rekuiper_flow::EngineConfig;
use rekuiper_rt::Clock;
use rekuiper_server::config::{Config, Env, Place};
use rekuiper_server::engine::flow::FlowEngine;
use rekuiper_server::logging::Log;
use rekuiper_server::{Running, Starter, routes};
use tokio::runtime::Runtime;
use tower::ServiceExt;

/// After so many bodies all that they made is dropped, or memory would tell of the number of
/// rules and not of a leak.
const ROUND: u64 = 500;

/// Every path parameter stands for this name.
const NAME: &str = "demo";

struct Server {
    runtime: Runtime,
    router: Router,
    _running: Running,
    doors: Vec<(Method, String)>,
}

impl Server {
    fn start() -> Server {
        let base = std::env::temp_dir().join(format!("rekuiper-fuzz-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&base);
        std::fs::create_dir_all(&base).expect("a folder");
        let runtime = Runtime::new().expect("a runtime");
        let vars = [
            ("KUIPER__BASIC__RESTIP", "127.0.0.1"),
            ("KUIPER__BASIC__RESTPORT", "0"),
            ("KUIPER__SOURCE__HTTPSERVERIP", "127.0.0.1"),
            ("KUIPER__SOURCE__HTTPSERVERPORT", "0"),
            ("KUIPER__BASIC__FILELOG", "false"),
            ("KUIPER__BASIC__TIMEZONE", "UTC"),
            ("KUIPER__BASIC__ALLOWEXTERNALFILEACCESS", "false"),
        ];
        let config = Config::load(&Place::Relative(base.clone()), Env::new(&vars)).expect("config");
        let log = Log::new(&config.log, &config.dirs.log);
        let running = runtime.block_on(async {
            let starter = Starter::open(config, log).await.expect("a server");
            let data = starter.config.dirs.data.clone();
            let services = Services::new(Clock::Real, base, data);
            let _ = services.data_server.set(Arc::new(starter.data.clone()));
            let engine = EngineConfig::new(Clock::Real, services);
            let engine = FlowEngine::new(starter.catalog.clone(), engine);
            starter.run(Arc::new(engine)).await.expect("a server that runs")
        });
        let router = routes::router(running.app.clone());
        Server { runtime, router, _running: running, doors: doors() }
    }

    fn ask(&self, method: &Method, path: &str, body: &[u8]) -> (StatusCode, Option<Vec<u8>>) {
        let boundary = "multipart/form-data; boundary=x";
        let kind = if path.ends_with("upload") { boundary } else { "application/json" };
        let request = Request::builder()
            .method(method.clone())
            .uri(path)
            .header("content-type", kind)
            .body(Body::from(body.to_vec()))
            .expect("a request");
        self.runtime.block_on(async {
            let Ok(answer) = self.router.clone().oneshot(request).await;
            let status = answer.status();
            let bytes = answer.into_body().collect().await.ok();
            (status, bytes.map(|b| b.to_bytes().to_vec()))
        })
    }

    fn check(&self, number: u64) {
        for path in ["/data/export", "/rules", "/streams", "/connections"] {
            let (status, body) = self.ask(&Method::GET, path, b"");
            let body = body.unwrap_or_default();
            let json = serde_json::from_slice::<serde_json::Value>(&body);
            assert!(
                status == StatusCode::OK && json.is_ok(),
                "{path} gives {status} and {}",
                String::from_utf8_lossy(&body)
            );
        }
        if number % ROUND == 0 {
            let (status, body) = self.ask(&Method::POST, "/data/import", br#"{"content":"{}"}"#);
            assert_eq!(status, StatusCode::OK, "{body:?}");
        }
    }
}

/// All that may take a body, but the way to end the process.
fn doors() -> Vec<(Method, String)> {
    let takes = [Method::POST, Method::PUT, Method::PATCH, Method::DELETE];
    let mut found = BTreeMap::new();
    for route in routes::all() {
        if takes.contains(&route.method) && route.path != "/stop" {
            let path: Vec<&str> = route
                .path
                .split('/')
                .map(|part| if part.starts_with('{') { NAME } else { part })
                .collect();
            let door = (route.method.clone(), path.join("/"));
            found.insert((route.path, route.method.as_str()), door);
        }
    }
    found.into_values().collect()
}

fuzz_target!(|data: &[u8]| {
    static SERVER: OnceLock<Server> = OnceLock::new();
    static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(1);
    let Some((door, body)) = data.split_first() else { return };
    if body.windows(4).any(|w| w.eq_ignore_ascii_case(b"path")) {
        return;
    }
    let server = SERVER.get_or_init(Server::start);
    let (method, path) = &server.doors[usize::from(*door) % server.doors.len()];
    let (status, _) = server.ask(method, path, body);
    assert!(status.as_u16() < 500, "{method} {path} answers {status}");
    let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    if number % 50 == 0 {
        server.check(number);
    }
});
