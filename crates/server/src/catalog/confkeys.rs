//! Configuration keys of sources, sinks and connections: those of etc and those put over REST,
//! which lie over the former property by property.

use std::collections::BTreeMap;

use rekuiper_store::Batch;
use serde_json::{Map, Value};

use super::{Catalog, Memory, space};
use crate::error::ApiResult;

/// Configuration key to its properties.
pub type Sections = BTreeMap<String, Map<String, Value>>;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    Sources,
    Sinks,
    Connections,
}

impl Kind {
    pub fn word(self) -> &'static str {
        match self {
            Kind::Sources => "sources",
            Kind::Sinks => "sinks",
            Kind::Connections => "connections",
        }
    }

    pub fn of(word: &str) -> Option<Kind> {
        [Kind::Sources, Kind::Sinks, Kind::Connections]
            .into_iter()
            .find(|k| k.word() == word)
    }
}

/// Puts a stored entry, `sources.mqtt.key`, into memory.
pub(super) fn load(memory: &mut Memory, key: &str, value: &[u8]) {
    let mut parts = key.splitn(3, '.');
    let (Some(kind), Some(typ), Some(name)) = (parts.next(), parts.next(), parts.next()) else {
        return;
    };
    let (Some(kind), Some(props)) = (Kind::of(kind), super::object(value)) else {
        return;
    };
    if kind == Kind::Connections {
        memory.connections.insert(name.to_owned(), typ.to_owned());
    }
    memory
        .conf
        .entry((kind, typ.to_owned()))
        .or_default()
        .insert(name.to_owned(), props);
}

pub(super) fn stored_key(kind: Kind, typ: &str, key: &str) -> String {
    format!("{}.{typ}.{key}", kind.word())
}

/// The property that names a connection.
const SELECTOR: &str = "connectionSelector";

impl Catalog {
    /// All keys of a connector, those of etc included.
    pub fn conf_sections(&self, kind: Kind, typ: &str) -> Sections {
        let mut out = self.etc.sections(kind, typ);
        if let Some(own) = self.read().conf.get(&(kind, typ.to_owned())) {
            for (key, props) in own {
                out.entry(key.clone()).or_default().extend(props.clone());
            }
        }
        out
    }

    /// Keys put by users: `(type, key, properties)`.
    pub fn user_conf(&self, kind: Kind) -> Vec<(String, String, Map<String, Value>)> {
        let memory = self.read();
        let of_kind = memory.conf.iter().filter(|((k, _), _)| *k == kind);
        of_kind
            .flat_map(|((_, typ), keys)| {
                keys.iter()
                    .map(|(key, props)| (typ.clone(), key.clone(), props.clone()))
            })
            .collect()
    }

    /// Puts properties over what the key holds, as eKuiper does.
    pub async fn put_conf(
        &self,
        kind: Kind,
        typ: &str,
        key: &str,
        props: Map<String, Value>,
    ) -> ApiResult<()> {
        let _edit = self.edit().await;
        let slot = (kind, typ.to_owned());
        let mut all = self
            .read()
            .conf
            .get(&slot)
            .and_then(|k| k.get(key))
            .cloned()
            .unwrap_or_default();
        all.extend(props);
        self.keep_conf(slot, key, all).await
    }

    /// Puts properties in the place of what the key holds.
    pub(super) async fn keep_conf(
        &self,
        slot: (Kind, String),
        key: &str,
        props: Map<String, Value>,
    ) -> ApiResult<()> {
        let text = Value::Object(props.clone()).to_string();
        self.keep(Batch::new().put(space::CONF, &stored_key(slot.0, &slot.1, key), text))
            .await?;
        self.write()
            .conf
            .entry(slot)
            .or_default()
            .insert(key.to_owned(), props);
        Ok(())
    }

    /// Whether there was such a key.
    pub async fn drop_conf(&self, kind: Kind, typ: &str, key: &str) -> ApiResult<bool> {
        let _edit = self.edit().await;
        self.keep(Batch::new().delete(space::CONF, &stored_key(kind, typ, key)))
            .await?;
        let mut memory = self.write();
        let gone = memory
            .conf
            .get_mut(&(kind, typ.to_owned()))
            .and_then(|keys| keys.remove(key));
        if kind == Kind::Connections {
            memory.connections.remove(key);
        }
        Ok(gone.is_some())
    }

    /// What holds for a source: `default`, over it the key, over that the named connection, over
    /// all of it what the stream says in EXTRA.
    pub fn source_props(
        &self,
        typ: &str,
        conf_key: Option<&str>,
        extra: Map<String, Value>,
    ) -> Map<String, Value> {
        let sections = self.conf_sections(Kind::Sources, typ);
        let mut props = sections.get("default").cloned().unwrap_or_default();
        if let Some(key) = conf_key.filter(|k| !k.is_empty() && *k != "default") {
            match sections
                .get(&key.to_lowercase())
                .or_else(|| sections.get(key))
            {
                Some(own) => props.extend(own.clone()),
                None => tracing::warn!("configuration key {key} of source {typ} does not exist"),
            }
        }
        if let Some(selector) = extra.get(SELECTOR) {
            props.insert(SELECTOR.into(), selector.clone());
        }
        props = self.with_connection(props);
        props.extend(extra);
        self.config.secure(props)
    }

    /// What holds for a sink: the key named by `resourceId`, over it the properties of the action,
    /// over that the named connection.
    pub fn sink_props(&self, typ: &str, action: &Map<String, Value>) -> Map<String, Value> {
        let id = action
            .get("resourceId")
            .and_then(Value::as_str)
            .unwrap_or_default();
        let sections = self.conf_sections(Kind::Sinks, typ);
        let mut props = sections.get(id).cloned().unwrap_or_default();
        props.extend(action.clone());
        self.config.secure(self.with_connection(props))
    }

    fn with_connection(&self, mut props: Map<String, Value>) -> Map<String, Value> {
        let id = props
            .get(SELECTOR)
            .and_then(Value::as_str)
            .map(str::to_owned);
        if let Some(connection) = id.and_then(|id| self.connection(&id)) {
            props.extend(connection.props);
        }
        props
    }
}
