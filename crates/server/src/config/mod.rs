//! The configuration: kuiper.yaml over built-in defaults, environment variables over both.

mod base;
pub mod duration;
mod env;
mod known;
mod security;
pub mod tree;

pub use base::{Dirs, Place};
pub use env::Env;

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::error::ApiError;
use crate::rules::definition::RuleOptions;
use tree::Tree;

const DEFAULTS: &str = include_str!("kuiper.yaml");
/// The port of httppush, websocket and sse where the configured one is none.
const DATA_PORT: u16 = 10_081;

/// What kuiper.yaml says, typed. Times in milliseconds.
#[derive(Debug, Clone)]
pub struct Config {
    pub dirs: Dirs,
    pub basic: Basic,
    pub rest: Address,
    pub data: Address,
    pub log: Log,
    pub rule: RuleOptions,
    pub broker: Broker,
    /// The whole tree with keys in lower case, for sections that other parts read.
    pub tree: Arc<Value>,
    pub env: Env,
    /// What the log is to say of the settings once it is there.
    pub remarks: Remarks,
}

#[derive(Debug, Clone, Default)]
pub struct Remarks {
    pub set_by_environment: Vec<String>,
    pub without_effect: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct Address {
    pub ip: String,
    pub port: u16,
    /// Certificate and key file.
    pub tls: Option<(String, String)>,
}

#[derive(Debug, Clone)]
pub struct Basic {
    pub authentication: bool,
    pub prometheus: bool,
    pub prometheus_port: u16,
    /// Where `/debug/pprof` is served, when it is.
    pub pprof: Option<Address>,
    pub timezone: String,
    pub ignore_case: bool,
    pub patrol_ms: i64,
    pub shutdown_ms: i64,
    pub cpu_usage: bool,
    pub metrics_dump: bool,
    pub metrics_retained_ms: i64,
    pub audit: bool,
    pub private_net: bool,
    pub external_files: bool,
    pub plugin_hosts: String,
    pub aes_key: String,
    pub store_name: String,
    pub local_traces: bool,
    /// Most traces that are kept.
    pub trace_capacity: usize,
}

#[derive(Debug, Clone)]
pub struct Log {
    pub level: String,
    pub debug: bool,
    pub console: bool,
    pub file: bool,
    pub no_timestamp: bool,
    pub rotate_hours: u64,
    pub max_age_hours: u64,
    pub rotate_size: u64,
    pub rotate_count: usize,
    pub syslog: Syslog,
}

#[derive(Debug, Clone, Default)]
pub struct Syslog {
    pub enable: bool,
    pub network: String,
    /// Empty: the daemon of this machine.
    pub address: String,
    pub level: String,
    pub tag: String,
}

#[derive(Debug, Clone)]
pub struct Broker {
    pub enable: bool,
    pub listener: String,
}

impl Config {
    /// Finds the folders, reads kuiper.yaml where there is one, applies the environment.
    pub fn load(place: &Place, env: Env) -> Result<Config, String> {
        let dirs = Dirs::find(place)?;
        let file = dirs.etc.join("kuiper.yaml");
        let mut value = tree::parse(DEFAULTS).map_err(|e| format!("built-in defaults: {e}"))?;
        let mut own = match file.exists() {
            true => tree::read(&file)?,
            false => Value::Object(Map::new()),
        };
        let set_by_environment = env.applied("kuiper", &mut own)?;
        let without_effect = known::remarks(&own, &value);
        tree::overlay(&mut value, own);
        let value = Arc::new(value);
        let mut config = Config::typed(dirs, value.clone(), &Tree::new(&value), env)?;
        config.remarks.set_by_environment = set_by_environment;
        config.remarks.without_effect.extend(without_effect);
        Ok(config)
    }

    fn typed(dirs: Dirs, tree: Arc<Value>, t: &Tree<'_>, env: Env) -> Result<Config, String> {
        let mut corrected = Vec::new();
        let basic = basic(t)?;
        zone(&basic.timezone).map_err(|e| format!("basic.timezone: {}", e.message))?;
        let log = log(t, &env, &mut corrected);
        let rest = Address {
            ip: t.text("basic.restIp"),
            port: t.port("basic.restPort")?,
            tls: t.tls("basic.restTls"),
        };
        let data = Address {
            ip: t.text("source.httpServerIp"),
            port: t.port("source.httpServerPort").unwrap_or_else(|why| {
                corrected.push(format!("{why}; {DATA_PORT} is used"));
                DATA_PORT
            }),
            tls: t.tls("source.httpServerTls"),
        };
        let rule = rule_defaults(t)?;
        let broker = Broker {
            enable: t.flag("broker.enable"),
            listener: t.text("broker.listener"),
        };
        t.check()?;
        let remarks = Remarks { without_effect: corrected, ..Remarks::default() };
        let config = Config { rest, data, rule, broker, basic, log, dirs, tree, env, remarks };
        config.check_keys()?;
        Ok(config)
    }

    /// Tells the log of settings that the environment made, and of those that do nothing.
    pub fn tell(&self) {
        for line in &self.remarks.set_by_environment {
            tracing::info!("{line}");
        }
        for line in &self.remarks.without_effect {
            tracing::warn!("{line}");
        }
    }

    /// A section of kuiper.yaml, keys in lower case.
    pub fn section(&self, path: &str) -> Map<String, Value> {
        match Tree::new(&self.tree).get(path) {
            Some(Value::Object(o)) => o.clone(),
            _ => Map::new(),
        }
    }
}

fn basic(t: &Tree<'_>) -> Result<Basic, String> {
    let pprof =
        Address { ip: t.text("basic.pprofIp"), port: t.port("basic.pprofPort")?, tls: None };
    Ok(Basic {
        authentication: t.flag("basic.authentication"),
        prometheus: t.flag("basic.prometheus"),
        prometheus_port: t.port("basic.prometheusPort")?,
        pprof: t.flag("basic.pprof").then_some(pprof),
        timezone: t.text("basic.timezone"),
        ignore_case: t.flag("basic.ignoreCase"),
        patrol_ms: t
            .time("basic.rulePatrolInterval")
            .filter(|ms| *ms >= 1000)
            .unwrap_or(10_000),
        shutdown_ms: t
            .time("basic.gracefulShutdownTimeout")
            .filter(|ms| *ms > 0)
            .unwrap_or(3000),
        cpu_usage: t.flag("basic.ResourceProfileConfig.enable"),
        metrics_dump: t.flag("basic.metricsDumpConfig.enable"),
        metrics_retained_ms: t
            .time("basic.metricsDumpConfig.retainedDuration")
            .filter(|ms| *ms > 0)
            .unwrap_or(21_600_000),
        audit: t.flag("basic.enableRestAuditLog"),
        private_net: t.flag("basic.enablePrivateNet"),
        external_files: t.flag("basic.allowExternalFileAccess"),
        plugin_hosts: t.text("basic.pluginHosts"),
        aes_key: t.text("basic.aesKey"),
        store_name: Some(t.text("store.sqlite.name"))
            .filter(|n| !n.is_empty())
            .unwrap_or_else(|| "sqliteKV.db".into()),
        local_traces: t.flag("openTelemetry.enableLocalStorage"),
        trace_capacity: t
            .int("openTelemetry.localTraceCapacity")
            .and_then(|n| usize::try_from(n).ok())
            .filter(|n| *n > 0)
            .unwrap_or(2048),
    })
}

/// An unknown level changes nothing, as in eKuiper; but it is told.
fn log(t: &Tree<'_>, env: &Env, corrected: &mut Vec<String>) -> Log {
    let mut level = t.text("basic.logLevel");
    let known = ["", "debug", "info", "warn", "warning", "error", "fatal", "panic"];
    if !known.contains(&level.as_str()) {
        corrected.push(format!(
            "basic.logLevel: expected debug, info, warn, error, fatal or panic, found {level:?}; \
             info is used"
        ));
        level = "info".into();
    }
    Log {
        level,
        debug: t.flag("basic.debug"),
        console: t.flag("basic.consoleLog"),
        file: t.flag("basic.fileLog"),
        no_timestamp: t.flag("basic.logDisableTimestamp"),
        rotate_hours: t.int("basic.rotateTime").unwrap_or(0).max(0) as u64,
        max_age_hours: t.int("basic.maxAge").unwrap_or(0).max(0) as u64,
        rotate_size: t.int("basic.rotateSize").unwrap_or(0).max(0) as u64,
        rotate_count: t.int("basic.rotateCount").unwrap_or(0).max(0) as usize,
        syslog: syslog(t, env),
    }
}

/// The section `basic.syslog`; without one the variable `KuiperSyslogKey` may ask for the local
/// daemon.
fn syslog(t: &Tree<'_>, env: &Env) -> Syslog {
    if t.get("basic.syslog").is_none() {
        let enable = env.get("KuiperSyslogKey") == Some("true");
        return Syslog { enable, level: "info".into(), ..Syslog::default() };
    }
    let or = |text: String, usual: &str| if text.is_empty() { usual.into() } else { text };
    Syslog {
        enable: t.flag("basic.syslog.enable"),
        network: or(t.text("basic.syslog.network"), "udp"),
        address: t.text("basic.syslog.address"),
        level: or(t.text("basic.syslog.level"), "info"),
        tag: t.text("basic.syslog.tag"),
    }
}

/// Only these settings of the section `rule` reach a rule.
fn rule_defaults(t: &Tree<'_>) -> Result<RuleOptions, String> {
    let mut o = Map::new();
    let keys = [
        "isEventTime",
        "lateTolerance",
        "concurrency",
        "bufferLength",
        "sendMetaToSink",
        "sendError",
        "qos",
        "checkpointInterval",
    ];
    for key in keys {
        if let Some(v) = t.get(&format!("rule.{key}")) {
            o.insert(key.into(), v.clone());
        }
    }
    if let Some(v) = t.get("rule.restartStrategy.attempts") {
        o.insert("restartStrategy".into(), serde_json::json!({"attempts": v}));
    }
    RuleOptions::parse(&o, &RuleOptions::default()).map_err(|e| format!("rule: {}", e.message))
}

/// The zone of a name; `Local` and nothing are the zone of the machine.
pub fn zone(name: &str) -> Result<jiff::tz::TimeZone, ApiError> {
    match name {
        "" => Ok(jiff::tz::TimeZone::UTC),
        "Local" => Ok(jiff::tz::TimeZone::system()),
        name => jiff::tz::TimeZone::get(name)
            .map_err(|_| ApiError::bad(format!("time zone {name:?} is not known"))),
    }
}

/// Every path that the typed configuration asks for.
#[cfg(test)]
fn asked_paths() -> Vec<String> {
    let mut value = tree::parse(DEFAULTS).unwrap();
    let own = "basic: {restTls: {certfile: c}, syslog: {enable: false}}\n\
               source: {httpServerTls: {certfile: c}}";
    tree::overlay(&mut value, tree::parse(own).unwrap());
    let value = Arc::new(value);
    let t = Tree::new(&value);
    Config::typed(Dirs::default(), value.clone(), &t, Env::default()).unwrap();
    t.asked.take()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(yaml: &str) -> Result<Config, String> {
        let mut value = tree::parse(DEFAULTS).unwrap();
        tree::overlay(&mut value, tree::parse(yaml).unwrap());
        let value = Arc::new(value);
        Config::typed(Dirs::default(), value.clone(), &Tree::new(&value), Env::default())
    }

    #[test]
    fn what_ekuiper_corrects_is_corrected_and_told() {
        let config = typed("basic: {logLevel: loud}\nsource: {httpServerPort: 99999}").unwrap();
        assert_eq!((config.log.level.as_str(), config.data.port), ("info", 10_081));
        let told = config.remarks.without_effect.join("\n");
        assert!(told.contains("basic.logLevel") && told.contains("httpServerPort"), "{told}");
        assert!(typed("basic: {restPort: 99999}").is_err());
        assert!(typed("basic: {restPort: no}").is_err());
    }
}
