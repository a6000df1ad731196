//! kuiperd: the server process.

mod demo;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use rekuiper_broker::{Broker, BrokerConfig, BrokerHandle};
use rekuiper_connect::Services;
use rekuiper_flow::{EngineConfig, StateStore, TraceStore};
use rekuiper_rt::Clock;
use rekuiper_server::config::{Config, Env, Place, zone};
use rekuiper_server::engine::RuleEngine;
use rekuiper_server::engine::flow::FlowEngine;
use rekuiper_server::logging::Log;
use rekuiper_server::{Running, Starter};

const USAGE: &str = "kuiperd [-loadFileType relative|absolute] [-etc DIR] [-data DIR] [-log DIR] \
[-plugins DIR]
kuiperd demo [--help]    a server with a simulated fleet, to look at

The environment variable KuiperBaseKey names the base folder; FILE__KEY=value overrides settings.";

fn main() -> ExitCode {
    match run() {
        Ok(code) => ExitCode::from(u8::try_from(code).unwrap_or(1)),
        Err(why) => {
            eprintln!("kuiperd: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<i32, String> {
    if std::env::args().nth(1).is_some_and(|word| word == "demo") {
        return demo::run(std::env::args().skip(2));
    }
    let Some(place) = place(std::env::args().skip(1))? else {
        println!("{USAGE}");
        return Ok(0);
    };
    let config = Config::load(&place, Env::of_process())?;
    let log = Log::new(&config.log, &config.dirs.log);
    log.install();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|e| format!("the runtime cannot start: {e}"))?;
    runtime.block_on(async {
        let starter = Starter::open(config, log).await?;
        let broker = broker(&starter.config).await?;
        let engine = engine(&starter, broker.as_ref())?;
        let running = starter.run(engine).await?;
        ended(&running).await;
        let code = running.shut_down().await;
        if let Some((broker, _)) = broker {
            broker.shutdown().await;
        }
        Ok(code)
    })
}

type BrokerAt = (BrokerHandle, Vec<SocketAddr>);

/// The engine, over the catalog.
fn engine(starter: &Starter, broker: Option<&BrokerAt>) -> Result<Arc<dyn RuleEngine>, String> {
    let config = &starter.config;
    let data = config.dirs.data.clone();
    let base = data.parent().unwrap_or(&data).to_owned();
    let services = Services::new(Clock::Real, base, data);
    services.private_net.store(config.basic.private_net, Ordering::Relaxed);
    let _ = services.data_server.set(Arc::new(starter.data.clone()));
    if let Some((handle, addresses)) = broker {
        let _ = services.broker.set((handle.clone(), addresses.clone()));
    }
    let zone = zone(&config.basic.timezone).map_err(|e| e.message)?;
    let basic = &config.basic;
    let kept = if basic.local_traces { basic.trace_capacity } else { 0 };
    let traces = Some(TraceStore::new(kept));
    let measure_cpu = basic.cpu_usage;
    let states: Option<Arc<dyn StateStore>> = Some(Arc::new(starter.catalog.states()));
    let own = EngineConfig::new(Clock::Real, services);
    let config = EngineConfig { zone, traces, measure_cpu, states, ..own };
    Ok(Arc::new(FlowEngine::new(starter.catalog.clone(), config)))
}

/// The embedded broker, where one is configured.
async fn broker(config: &Config) -> Result<Option<BrokerAt>, String> {
    if !config.broker.enable {
        return Ok(None);
    }
    let listener = &config.broker.listener;
    let at: SocketAddr = listener.parse().map_err(|e| {
        format!("broker.listener {listener:?} is no address such as 127.0.0.1:1883: {e}")
    })?;
    let settings = BrokerConfig {
        listeners: vec![at],
        ..BrokerConfig::default()
    };
    let handle = Broker::start(settings)
        .await
        .map_err(|e| format!("the broker cannot start at {at}: {e}"))?;
    let addresses = handle.local_addrs().to_vec();
    tracing::info!("broker listens at {addresses:?}");
    Ok(Some((handle, addresses)))
}

/// Until someone asks over the API, or a signal comes.
async fn ended(running: &Running) {
    tokio::select! {
        _ = running.asked_to_stop() => {}
        _ = signalled() => {}
    }
}

async fn signalled() {
    use tokio::signal::unix::{SignalKind, signal};
    let terminate = async {
        match signal(SignalKind::terminate()) {
            Ok(mut signal) => drop(signal.recv().await),
            Err(_) => std::future::pending().await,
        }
    };
    tokio::select! {
        _ = tokio::signal::ctrl_c() => {}
        _ = terminate => {}
    }
}

/// Flags may have one dash or two. None asks for help.
fn place(args: impl Iterator<Item = String>) -> Result<Option<Place>, String> {
    let (mut absolute, mut dirs) = (false, [None, None, None, None]);
    let mut args = args;
    while let Some(arg) = args.next() {
        let flag = arg.trim_start_matches('-');
        let (flag, given) = match flag.split_once('=') {
            Some((flag, value)) => (flag, Some(value.to_owned())),
            None => (flag, None),
        };
        if flag == "h" || flag == "help" {
            return Ok(None);
        }
        let known = ["etc", "data", "log", "plugins"];
        let slot = known.iter().position(|k| *k == flag);
        if slot.is_none() && flag != "loadFileType" {
            return Err(format!("flag {arg} is not known\n{USAGE}"));
        }
        let value = given
            .or_else(|| args.next())
            .ok_or(format!("flag {arg} needs a value"))?;
        match slot {
            Some(i) => dirs[i] = Some(PathBuf::from(value)),
            None => absolute = value == "absolute",
        }
    }
    let [etc, data, log, plugins] = dirs;
    if absolute {
        return Ok(Some(Place::Absolute {
            etc,
            data,
            log,
            plugins,
        }));
    }
    let base = match std::env::var_os("KuiperBaseKey").filter(|b| !b.is_empty()) {
        Some(base) => PathBuf::from(base),
        None => std::env::current_dir().map_err(|e| format!("no working directory: {e}"))?,
    };
    Ok(Some(Place::Relative(base)))
}
