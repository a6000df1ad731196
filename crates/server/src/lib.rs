//! kuiperd without its `main`: configuration, catalog, life of the rules, REST API.
//!
//! The rooms: `config` (kuiper.yaml, environment, folders), `catalog` (all definitions, written
//! through to the store), `rules` (definition, state machine, schedule), `routes` (one table, one
//! resource a file), `web` (HTTP as routes see it), `connectors` (what is said of each connector),
//! `transfer` (export and import), `data_server` (the port of the connectors).
//!
//! What this crate does NOT know: how a rule is planned and run. That lies behind
//! [`engine::RuleEngine`]; definitions are given to it by [`catalog::Catalog`].

mod archive;
mod auth;
pub mod catalog;
pub mod config;
pub mod connectors;
mod data_connect;
pub mod data_server;
mod dump;
pub mod engine;
pub mod error;
pub mod external;
mod fetch;
pub mod guard;
pub mod logging;
mod process;
mod prometheus;
pub mod routes;
pub mod rules;
mod services;
mod start;
mod tasks;
mod tls;
mod transfer;
mod trials;
pub mod web;

pub use start::{Running, Starter};

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use rekuiper_sql::StreamKind;
use tokio::sync::watch;

use catalog::{Catalog, StreamEntry};
use config::Config;
use data_server::DataServer;
use engine::{Change, RuleEngine};
use error::{ApiError, ApiResult};
use rules::Rules;

/// Everything the routes work with.
pub struct App {
    pub config: Arc<Config>,
    pub catalog: Arc<Catalog>,
    pub rules: Arc<Rules>,
    pub engine: Arc<dyn RuleEngine>,
    pub data: DataServer,
    pub log: logging::Log,
    pub(crate) trials: trials::Trials,
    pub(crate) tasks: tasks::Tasks,
    pub(crate) fetch: fetch::Fetch,
    pub(crate) process: process::Process,
    pub(crate) dump: dump::Dump,
    pub(crate) last_import: Mutex<transfer::Bundle>,
    pub(crate) started: Instant,
    stop: watch::Sender<bool>,
    exit_code: AtomicI32,
}

impl App {
    /// Asks for an orderly end of the process.
    pub fn ask_to_stop(&self, exit_code: i32) {
        self.exit_code.store(exit_code, Ordering::Relaxed);
        self.stop.send_replace(true);
    }

    pub fn exit_code(&self) -> i32 {
        self.exit_code.load(Ordering::Relaxed)
    }

    pub async fn create_source(&self, entry: StreamEntry) -> ApiResult<()> {
        let (name, lookup) = (entry.def.name.to_string(), entry.is_lookup());
        self.catalog.create_source(entry).await?;
        if lookup {
            self.engine
                .changed(Change::LookupTableCreated(name))
                .await?;
        }
        Ok(())
    }

    /// Rules that run go on with the old definition until they are restarted.
    pub async fn replace_source(&self, name: &str, entry: StreamEntry) -> ApiResult<()> {
        let lookup = entry.is_lookup();
        self.catalog.replace_source(name, entry).await?;
        if lookup {
            self.engine
                .changed(Change::LookupTableCreated(name.to_owned()))
                .await?;
        }
        Ok(())
    }

    /// Refused while a running rule reads it, unless forced.
    pub async fn drop_source(&self, kind: StreamKind, name: &str, force: bool) -> ApiResult<()> {
        let users = self.rules.users_of(name);
        if !force && !users.is_empty() && self.catalog.described(kind, name).is_ok() {
            let (what, rules) = (kind.title(), users.join(", "));
            let hint = "stop them first, or add ?force=true";
            return Err(ApiError::bad(format!(
                "{what} {name} is used by rules {rules}; {hint}"
            )));
        }
        let old = self.catalog.drop_source(kind, name).await?;
        if old.is_lookup() {
            self.engine
                .changed(Change::LookupTableDropped(name.to_owned()))
                .await?;
        }
        Ok(())
    }

    /// Drops all that is defined.
    pub(crate) async fn clear(&self) -> ApiResult<()> {
        self.rules.clear().await?;
        for (name, entry) in self.catalog.sources(StreamKind::Table) {
            if entry.is_lookup() {
                self.engine
                    .changed(Change::LookupTableDropped(name))
                    .await?;
            }
        }
        for c in self.catalog.connections() {
            self.engine.changed(Change::ConnectionDropped(c.id)).await?;
        }
        self.catalog.clear().await
    }
}
