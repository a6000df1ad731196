//! Putting the parts together, serving, and ending in good order.

use std::net::SocketAddr;
use std::sync::atomic::AtomicI32;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::Path;
use rekuiper_sql::StreamKind;
use rekuiper_store::{Durability, Store};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tower::ServiceExt;

use crate::App;
use crate::catalog::Catalog;
use crate::config::{Address, Config, zone};
use crate::data_server::DataServer;
use crate::engine::{Change, RuleEngine};
use crate::logging::Log;
use crate::routes::pprof;
use crate::rules::{Rules, system_clock};
use crate::web::Reply;
use crate::web::serve::{Answer, Listener};
use crate::{dump, fetch, process, prometheus, routes, tls};

/// Our store; the database of the original lies beside it untouched.
const STORE: &str = "rekuiper.db";

/// A server whose parts are there, before it serves.
pub struct Starter {
    pub config: Arc<Config>,
    pub catalog: Arc<Catalog>,
    pub data: DataServer,
    pub log: Log,
    rest: Listener,
    data_listener: Listener,
}

/// A server that serves.
pub struct Running {
    pub app: Arc<App>,
    pub rest: SocketAddr,
    pub data: SocketAddr,
    listeners: Vec<JoinHandle<()>>,
    tasks: Vec<JoinHandle<()>>,
}

impl Starter {
    /// Opens the store and the ports. The engine is made by the caller, from catalog and data
    /// server.
    pub async fn open(config: Config, log: Log) -> Result<Starter, String> {
        let config = Arc::new(config);
        config.tell();
        let rest = listen(&config.rest, "REST", false).await?;
        let data_listener = listen(&config.data, "data", true).await?;
        let port = data_listener.address().map_err(|e| e.to_string())?.port();
        let path = config.dirs.data.join(STORE);
        let store = Store::open(&path, Durability::Power).map_err(|e| e.to_string())?;
        let catalog = Catalog::open(store, config.clone())?;
        Ok(Starter {
            config,
            catalog,
            data: DataServer::new(port),
            log,
            rest,
            data_listener,
        })
    }

    /// Serves; rules that are triggered start in the background.
    pub async fn run(self, engine: Arc<dyn RuleEngine>) -> Result<Running, String> {
        let Starter {
            config,
            catalog,
            data,
            log,
            rest,
            data_listener,
        } = self;
        let zone = zone(&config.basic.timezone).map_err(|e| e.message)?;
        let rules = Rules::new(catalog.clone(), engine.clone(), system_clock(), zone);
        let (stop, stopped) = watch::channel(false);
        let app = Arc::new(App {
            fetch: fetch::Fetch {
                external_files: config.basic.external_files,
                private_net: config.basic.private_net,
                uploads: config.dirs.uploads(),
            },
            dump: dump::Dump::new(
                config.basic.metrics_dump,
                config.dirs.log.join("metrics"),
                config.basic.metrics_retained_ms,
            ),
            catalog,
            rules: rules.clone(),
            engine,
            data: data.clone(),
            log,
            trials: Default::default(),
            tasks: Default::default(),
            process: process::Process::default(),
            last_import: Mutex::default(),
            started: Instant::now(),
            stop,
            exit_code: AtomicI32::new(0),
            config,
        });
        let addresses = (rest.address(), data_listener.address());
        let (Ok(rest_at), Ok(data_at)) = addresses else {
            return Err("a port is gone".into());
        };
        dial_connections(&app).await;
        open_lookups(&app).await;
        let fresh = rules.restore()?;
        let mut listeners = vec![
            tokio::spawn(rest.run(of_router(routes::router(app.clone())), stopped.clone())),
            tokio::spawn(data_listener.run(of_data(data), stopped.clone())),
        ];
        listeners.extend(prometheus_listener(&app, &stopped).await);
        listeners.extend(pprof_listener(&app, &stopped).await);
        let tasks = vec![
            tokio::spawn(rules.patrol()),
            tokio::spawn(dump::Dump::run(app.clone())),
        ];
        warn_when_open(&app.config, rest_at);
        if fresh {
            first_rules(&app).await;
        }
        tracing::info!("serving REST at {rest_at}, data at {data_at}");
        Ok(Running {
            app,
            rest: rest_at,
            data: data_at,
            listeners,
            tasks,
        })
    }
}

/// Named connections are there before the rules that share them.
async fn dial_connections(app: &App) {
    for connection in app.catalog.connections() {
        // a connection that cannot be made says so in its status
        let _ = app.engine.changed(Change::ConnectionPut(connection.id)).await;
    }
}

/// Lookup tables fill from the start of the server on, not only from that of a rule.
async fn open_lookups(app: &App) {
    for (name, entry) in app.catalog.sources(StreamKind::Table) {
        if entry.is_lookup()
            && let Err(e) = app.engine.changed(Change::LookupTableCreated(name.clone())).await
        {
            let why = e.message;
            tracing::error!("lookup table {name} cannot be opened, rules that ask it fail: {why}");
        }
    }
}

/// `etc/init.json` is taken in once, when the store is new.
async fn first_rules(app: &App) {
    let Ok(text) = std::fs::read_to_string(app.config.dirs.etc.join("init.json")) else {
        return;
    };
    match crate::transfer::import_ruleset(app, &text).await {
        Ok([s, t, r]) => tracing::info!("init.json: {s} streams, {t} tables and {r} rules"),
        Err(e) => tracing::error!("init.json cannot be taken in: {e}"),
    }
}

async fn listen(at: &Address, what: &str, long_lived: bool) -> Result<Listener, String> {
    let ip = if at.ip.is_empty() {
        "0.0.0.0"
    } else {
        at.ip.as_str()
    };
    let listener = TcpListener::bind((ip, at.port))
        .await
        .map_err(|e| format!("{what} server cannot listen at {ip}:{}: {e}", at.port))?;
    let tls = at.tls.as_ref().map(tls::acceptor).transpose()?;
    Ok(Listener {
        listener,
        tls,
        long_lived,
    })
}

fn of_router(router: Router) -> Answer {
    Arc::new(move |request| {
        let router = router.clone();
        Box::pin(async move {
            let Ok(response) = router.oneshot(request).await;
            response
        })
    })
}

fn of_data(data: DataServer) -> Answer {
    Arc::new(move |request| Box::pin(data.clone().answer(request)))
}

/// A port of its own for metrics, unless they are served at the REST port.
async fn prometheus_listener(
    app: &Arc<App>,
    stopped: &watch::Receiver<bool>,
) -> Option<JoinHandle<()>> {
    let basic = &app.config.basic;
    if !basic.prometheus || basic.prometheus_port == app.config.rest.port {
        return None;
    }
    let at = Address {
        ip: "0.0.0.0".into(),
        port: basic.prometheus_port,
        tls: None,
    };
    let app = app.clone();
    let get = axum::routing::get(move || {
        let app = app.clone();
        async move {
            (
                [("content-type", prometheus::CONTENT_TYPE)],
                prometheus::text(&app),
            )
        }
    });
    side_listener(&at, "Prometheus", Router::new().route("/metrics", get), stopped).await
}

/// A port of its own for `/debug/pprof`, where it is on and not served at the REST port.
async fn pprof_listener(
    app: &Arc<App>,
    stopped: &watch::Receiver<bool>,
) -> Option<JoinHandle<()>> {
    let at = app.config.basic.pprof.as_ref().filter(|_| !pprof::shares_rest(app))?;
    let of = app.clone();
    let figures = axum::routing::get(move || {
        let of = of.clone();
        async move { pprof::figures(&of) }
    });
    let profile = axum::routing::get(|Path(name): Path<String>| async move {
        pprof::no_profile(&name).unwrap_or_else(Reply::from).into_response()
    });
    let router = Router::new()
        .route("/debug/pprof", figures.clone())
        .route("/debug/pprof/", figures)
        .route("/debug/pprof/{profile}", profile);
    side_listener(at, "pprof", router, stopped).await
}

/// A listener that the server can do without.
async fn side_listener(
    at: &Address,
    what: &str,
    router: Router,
    stopped: &watch::Receiver<bool>,
) -> Option<JoinHandle<()>> {
    match listen(at, what, false).await {
        Ok(listener) => {
            Some(tokio::spawn(listener.run(of_router(router), stopped.clone())))
        }
        Err(e) => {
            tracing::error!("{e}");
            None
        }
    }
}

/// Anyone who reaches the port can run rules: that must be meant.
fn warn_when_open(config: &Config, at: SocketAddr) {
    if let Some(warning) = open_to_all(at, config.basic.authentication) {
        tracing::warn!("{warning}");
        eprintln!("{warning}");
    }
}

fn open_to_all(at: SocketAddr, authentication: bool) -> Option<String> {
    (!at.ip().is_loopback() && !authentication).then(|| {
        format!(
            "WARNING: the REST API at {at} is open to everyone who can reach this machine. \
             Set basic.authentication, or basic.restIp to 127.0.0.1."
        )
    })
}

impl Running {
    /// Waits until someone asks to stop over the API.
    pub async fn asked_to_stop(&self) {
        let mut stop = self.app.stop.subscribe();
        let _ = stop.wait_for(|s| *s).await;
    }

    /// Ends the REST server, then all rules, within the time the configuration gives.
    pub async fn shut_down(self) -> i32 {
        self.app.stop.send_replace(true);
        let within = Duration::from_millis(self.app.config.basic.shutdown_ms.max(0) as u64);
        let rules = self.app.rules.clone();
        let orderly = async {
            for listener in self.listeners {
                let _ = listener.await;
            }
            rules.halt_all().await;
        };
        if tokio::time::timeout(within, orderly).await.is_err() {
            tracing::warn!("not everything ended within {within:?}");
        }
        for task in self.tasks {
            task.abort();
        }
        self.app.exit_code()
    }
}

#[cfg(test)]
mod tests {
    use super::open_to_all;

    #[test]
    fn a_port_beyond_this_machine_needs_tokens_or_a_warning() {
        for at in ["0.0.0.0:9081", "[::]:9081", "192.168.1.5:9081", "[fe80::1]:9081"] {
            let at = at.parse().unwrap();
            let warning = open_to_all(at, false).unwrap();
            assert!(warning.contains("WARNING") && warning.contains("basic.authentication"));
            assert_eq!(open_to_all(at, true), None);
        }
        for at in ["127.0.0.1:9081", "127.9.9.9:1", "[::1]:9081"] {
            assert_eq!(open_to_all(at.parse().unwrap(), false), None);
        }
    }
}
