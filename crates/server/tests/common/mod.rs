//! A server in this process, on free loopback ports, in a folder of its own.
#![allow(dead_code)]

pub mod golden;
pub mod http;
pub mod matching;
pub mod script;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rekuiper_connect::Services;
use rekuiper_flow::{EngineConfig, TraceStore};
use rekuiper_rt::Clock;
use rekuiper_server::config::{Config, Env, Place, zone};
use rekuiper_server::engine::flow::FlowEngine;
use rekuiper_server::logging::Log;
use rekuiper_server::{Running, Starter};
use tokio::runtime::Runtime;

static NUMBER: AtomicU64 = AtomicU64::new(0);

/// A folder that goes with its value.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Folder {
        let n = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("rekuiper-{name}-{}-{n}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn engine_config(starter: &Starter) -> EngineConfig {
    let config = &starter.config;
    let data = config.dirs.data.clone();
    let base = data.parent().unwrap_or(&data).to_owned();
    let services = Services::new(Clock::Real, base, data);
    services.private_net.store(config.basic.private_net, Ordering::Relaxed);
    let _ = services.data_server.set(Arc::new(starter.data.clone()));
    let basic = &config.basic;
    EngineConfig {
        zone: zone(&basic.timezone).unwrap(),
        traces: basic.local_traces.then(|| TraceStore::new(basic.trace_capacity)),
        measure_cpu: basic.cpu_usage,
        ..EngineConfig::new(Clock::Real, services)
    }
}

pub struct Server {
    running: Option<Running>,
    runtime: Runtime,
    pub base: Folder,
    pub url: String,
    pub data_url: String,
}

impl Server {
    pub fn start(name: &str, vars: &[(&str, &str)]) -> Server {
        Server::start_in(Folder::new(name), vars)
    }

    pub fn start_in(base: Folder, vars: &[(&str, &str)]) -> Server {
        Server::start_tuned(base, vars, |_| ())
    }

    /// `tune` has the last word about the engine.
    pub fn start_tuned(
        base: Folder,
        vars: &[(&str, &str)],
        tune: impl FnOnce(&mut EngineConfig),
    ) -> Server {
        let runtime = Runtime::new().unwrap();
        let mut all = vec![
            ("KUIPER__BASIC__RESTIP", "127.0.0.1"),
            ("KUIPER__BASIC__RESTPORT", "0"),
            ("KUIPER__SOURCE__HTTPSERVERIP", "127.0.0.1"),
            ("KUIPER__SOURCE__HTTPSERVERPORT", "0"),
            ("KUIPER__BASIC__FILELOG", "false"),
            ("KUIPER__BASIC__TIMEZONE", "UTC"),
            ("KUIPER__BASIC__ENABLEPRIVATENET", "true"),
            ("KUIPER__BASIC__RULEPATROLINTERVAL", "1s"),
        ];
        all.extend_from_slice(vars);
        let place = Place::Relative(base.path().to_owned());
        let config = Config::load(&place, Env::new(&all)).unwrap();
        let log = Log::new(&config.log, &config.dirs.log);
        let running = runtime.block_on(async {
            let starter = Starter::open(config, log).await.unwrap();
            let mut engine = engine_config(&starter);
            tune(&mut engine);
            let engine = Arc::new(FlowEngine::new(starter.catalog.clone(), engine));
            starter.run(engine).await.unwrap()
        });
        let (url, data_url) = (
            format!("http://{}", running.rest),
            format!("http://{}", running.data),
        );
        Server {
            running: Some(running),
            runtime,
            base,
            url,
            data_url,
        }
    }

    pub fn call(&self, method: &str, path: &str, body: &str) -> http::Answer {
        http::call(&self.url, method, path, &[], body.as_bytes()).unwrap()
    }

    pub fn get(&self, path: &str) -> serde_json::Value {
        let answer = self.call("GET", path, "");
        serde_json::from_str(&answer.body).unwrap_or(serde_json::Value::Null)
    }

    /// Ends it and gives its folder, for another start.
    pub fn stop(mut self) -> Folder {
        if let Some(running) = self.running.take() {
            self.runtime.block_on(running.shut_down());
        }
        std::mem::replace(
            &mut self.base,
            Folder(PathBuf::from("/nonexistent/nothing")),
        )
    }
}
