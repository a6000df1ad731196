//! Named connections. Their properties are configuration keys of the kind `connections`.

use std::hash::{DefaultHasher, Hash, Hasher};

use rekuiper_store::Batch;
use serde_json::{Map, Value};

use super::confkeys::{self, Kind};
use super::{Catalog, space};
use crate::config::tree;
use crate::error::{ApiError, ApiResult};

#[derive(Debug, Clone, PartialEq)]
pub struct Connection {
    pub id: String,
    pub typ: String,
    pub props: Map<String, Value>,
}

const PROVISIONED: &str = "connectionYaml";

impl Catalog {
    pub fn connection(&self, id: &str) -> Option<Connection> {
        let memory = self.read();
        let typ = memory.connections.get(id)?.clone();
        let sections = memory.conf.get(&(Kind::Connections, typ.clone()));
        let props = sections
            .and_then(|s| s.get(id))
            .cloned()
            .unwrap_or_default();
        Some(Connection {
            id: id.to_owned(),
            typ,
            props,
        })
    }

    pub fn connections(&self) -> Vec<Connection> {
        let ids: Vec<String> = self.read().connections.keys().cloned().collect();
        ids.iter().filter_map(|id| self.connection(id)).collect()
    }

    pub async fn create_connection(&self, c: Connection) -> ApiResult<()> {
        let _edit = self.edit().await;
        if self.read().connections.contains_key(&c.id) {
            return Err(ApiError::bad(format!("connection {} already exists", c.id)));
        }
        self.put_connection(c).await
    }

    pub async fn update_connection(&self, c: Connection) -> ApiResult<()> {
        let _edit = self.edit().await;
        let old = self.connection(&c.id);
        let Some(old) = old else {
            return Err(ApiError::bad(format!("connection {} does not exist", c.id)));
        };
        if old.typ != c.typ {
            let key = confkeys::stored_key(Kind::Connections, &old.typ, &c.id);
            self.keep(Batch::new().delete(space::CONF, &key)).await?;
            if let Some(keys) = self.write().conf.get_mut(&(Kind::Connections, old.typ)) {
                keys.remove(&c.id);
            }
        }
        self.put_connection(c).await
    }

    async fn put_connection(&self, c: Connection) -> ApiResult<()> {
        self.keep_conf((Kind::Connections, c.typ.clone()), &c.id, c.props)
            .await?;
        self.write().connections.insert(c.id, c.typ);
        Ok(())
    }

    /// Makes a configuration key of connections a connection in use.
    pub fn connect_key(&self, typ: &str, id: &str) {
        self.write()
            .connections
            .insert(id.to_owned(), typ.to_owned());
    }

    /// Applies `connections/connection.yaml` of etc and data when it changed since last time.
    pub(super) fn provision_connections(&self) -> Result<(), String> {
        let mut all = Value::Object(Map::new());
        for dir in [&self.config.dirs.etc, &self.config.dirs.data] {
            let file = dir.join("connections/connection.yaml");
            if file.is_file() {
                tree::overlay(&mut all, tree::read(&file)?);
            }
        }
        self.config.env.apply("connection", &mut all)?;
        let Value::Object(types) = &all else {
            return Ok(());
        };
        if types.is_empty() {
            return Ok(());
        }
        let mut hasher = DefaultHasher::new();
        all.to_string().hash(&mut hasher);
        let hash = format!("{:016x}", hasher.finish());
        let fault = |e: rekuiper_store::StoreError| e.to_string();
        let known = self.store.get(space::META, PROVISIONED).map_err(fault)?;
        if known.as_deref() == Some(hash.as_bytes()) {
            return Ok(());
        }
        let mut batch = Batch::new().put(space::META, PROVISIONED, hash);
        for (typ, ids) in types {
            for (id, props) in ids.as_object().into_iter().flatten() {
                batch = self.provision(batch, typ, id, props);
            }
        }
        self.store.write(batch).map_err(fault)
    }

    fn provision(&self, batch: Batch, typ: &str, id: &str, props: &Value) -> Batch {
        let Value::Object(props) = props else {
            return batch;
        };
        let mut props: Map<String, Value> = props
            .iter()
            .map(|(k, v)| {
                let key = crate::connectors::spelled(typ, k).unwrap_or(k);
                (key.to_owned(), v.clone())
            })
            .collect();
        let key = confkeys::stored_key(Kind::Connections, typ, id);
        let operation = props.remove("xoperation");
        let mut memory = self.write();
        let keys = memory
            .conf
            .entry((Kind::Connections, typ.to_owned()))
            .or_default();
        if operation.as_ref().and_then(Value::as_str) == Some("delete") {
            keys.remove(id);
            memory.connections.remove(id);
            return batch.delete(space::CONF, &key);
        }
        keys.insert(id.to_owned(), props.clone());
        memory.connections.insert(id.to_owned(), typ.to_owned());
        batch.put(space::CONF, &key, Value::Object(props).to_string())
    }
}
