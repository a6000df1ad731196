//! Named connections at work: those of brokers are dialled when they are defined and shared by all
//! rules that name them, and it is known which rules do.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rekuiper_connect::Props as ConnectProps;
use rekuiper_connect::mqtt::{Client, ClientOptions};
use serde_json::Value;

use super::flow::FlowEngine;
use super::{ConnectionStatus, EngineError, EngineResult, Props};
use crate::catalog::Connection;
use crate::rules::definition::RuleDef;

/// The property that names a connection.
const SELECTOR: &str = "connectionSelector";

/// Types that wait for others at the data server: nothing is dialled.
const SERVED: [&str; 3] = ["httppush", "sse", "websocket"];

/// See the module's doc.
#[derive(Default)]
pub(super) struct Named {
    /// A client, or why there is none.
    clients: Mutex<HashMap<String, Result<Arc<Client>, String>>>,
    /// Which connections a running rule uses, one entry a node.
    uses: Mutex<HashMap<String, Vec<String>>>,
}

fn lock<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Named {
    /// The rule uses these until it is let go.
    pub fn take(&self, rule: &str, ids: Vec<String>) {
        if !ids.is_empty() {
            lock(&self.uses).insert(rule.to_owned(), ids);
        }
    }

    pub fn let_go(&self, rule: &str) {
        lock(&self.uses).remove(rule);
    }

    fn users(&self, id: &str) -> usize {
        lock(&self.uses).values().flatten().filter(|used| *used == id).count()
    }

    /// Hangs up, unless rules still hold the client.
    pub fn hang_up(&self, id: &str) {
        lock(&self.clients).remove(id);
    }
}

fn selector(props: &Props) -> Option<&str> {
    props.get(SELECTOR).and_then(Value::as_str).filter(|id| !id.is_empty())
}

impl FlowEngine {
    /// The connections that the nodes of a rule name; one that does not exist is an error.
    pub(super) fn connections_of(&self, rule: &RuleDef) -> EngineResult<Vec<String>> {
        let catalog = &self.view.0;
        let names = rule.sources();
        let sources = names.iter().filter_map(|name| {
            let def = catalog.source(name)?.def.clone();
            selector(&self.view.props_of(&def)).map(str::to_owned)
        });
        let sinks = rule.actions.iter().filter_map(|action| {
            let props = catalog.sink_props(&action.sink, &action.props);
            selector(&props).map(str::to_owned)
        });
        let all: Vec<String> = sources.chain(sinks).collect();
        match all.iter().find(|id| catalog.connection(id).is_none()) {
            Some(id) => Err(EngineError::executor(format!(
                "connection {id} of rule {} does not exist (property {SELECTOR})",
                rule.id
            ))),
            None => Ok(all),
        }
    }

    /// Dials a connection that is new or was changed.
    pub(super) fn dial(&self, id: &str) {
        self.named.hang_up(id);
        let Some(connection) = self.view.0.connection(id).filter(|c| c.typ == "mqtt") else {
            return;
        };
        let mut props = self.view.0.config.secure(connection.props);
        props.insert(SELECTOR.into(), id.into());
        let services = &self.engine.config.services;
        let (clock, user) = (&self.engine.config.clock, format!("connection {id}"));
        let made = ClientOptions::new(&ConnectProps::new(props))
            .and_then(|options| services.mqtt.client(&options, &user, clock, &Arc::default()))
            .map_err(|e| e.text);
        lock(&self.named.clients).insert(id.to_owned(), made);
    }

    pub(super) fn status_of(&self, connection: &Connection) -> ConnectionStatus {
        let (status, error) = match lock(&self.named.clients).get(&connection.id) {
            Some(Ok(client)) => match client.status.state() {
                1 => ("connected", String::new()),
                0 => ("connecting", String::new()),
                _ => ("disconnected", client.status.message().into()),
            },
            Some(Err(why)) => ("disconnected", why.clone()),
            None if SERVED.contains(&connection.typ.as_str()) => {
                let addr = connection.props.get("addr").and_then(Value::as_str);
                let dials = addr.is_some_and(|addr| !addr.is_empty());
                (if dials { "connecting" } else { "connected" }, String::new())
            }
            None if rekuiper_connect::find(&connection.typ).is_some() => {
                ("connecting", String::new())
            }
            None => ("disconnected", format!("type {} is not in this build", connection.typ)),
        };
        let ref_count = self.named.users(&connection.id);
        ConnectionStatus { status: status.into(), error, ref_count }
    }
}
