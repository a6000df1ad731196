//! Everything that is defined: in memory for reading, written through to the store. A change is
//! in memory only after the store has kept it, so what a client saw acknowledged is on the disk.

mod confkeys;
mod connections;
mod etc;
mod files;
mod messages;
mod plugins;
mod schemas;
mod scripts;
mod services;
mod states;
mod streams;
mod takeover;
mod uploads;

pub use confkeys::{Kind, Sections};
pub use connections::Connection;
pub use plugins::PluginKind;
pub use schemas::Schema;
pub use schemas::check_kind;
pub use services::{Service, ServiceFunction};
pub use streams::StreamEntry;

use std::collections::BTreeMap;
use std::sync::{Arc, RwLock, RwLockReadGuard, RwLockWriteGuard};

use rekuiper_store::{Batch, Store};
use serde_json::{Map, Value};
use tokio::sync::{Mutex, MutexGuard, oneshot};

use crate::config::Config;
use crate::error::{ApiError, ApiResult};

/// Namespaces of the store.
pub mod space {
    pub const META: &str = "meta";
    pub const STREAM: &str = "stream";
    pub const RULE: &str = "rule";
    pub const CONF: &str = "conf";
    pub const SCHEMA: &str = "schema";
    pub const SERVICE: &str = "service";
    pub const NATIVE: &str = "nativePlugin";
    pub const PORTABLE: &str = "portablePlugin";
    pub const UPLOAD: &str = "upload";
    pub const SCRIPT: &str = "script";
    /// States of rules; not part of exports.
    pub const STATE: &str = "ruleState";
    /// All that an import without `partial` replaces.
    pub const ALL: [&str; 9] = [
        STREAM, RULE, CONF, SCHEMA, SERVICE, NATIVE, PORTABLE, UPLOAD, SCRIPT,
    ];
}

/// Written at the first start.
const SEEN: &str = "seen";

pub struct Catalog {
    store: Store,
    pub config: Arc<Config>,
    /// Held while something is changed: one change at a time.
    edit: Mutex<()>,
    memory: RwLock<Memory>,
    etc: etc::EtcConf,
    fresh: bool,
}

#[derive(Default)]
struct Memory {
    streams: BTreeMap<String, Arc<StreamEntry>>,
    /// `(kind, type)` to configuration keys.
    conf: BTreeMap<(Kind, String), Sections>,
    /// Ids of the connections that are in use, to their type.
    connections: BTreeMap<String, String>,
    schemas: BTreeMap<(String, String), Schema>,
    /// Service name to its descriptor and how it was installed.
    services: BTreeMap<String, services::Service>,
    /// `KIND_name` to the request that installed it.
    native: BTreeMap<String, Map<String, Value>>,
    portable: BTreeMap<String, Map<String, Value>>,
    /// Name to the request that made it.
    uploads: BTreeMap<String, Map<String, Value>>,
    scripts: BTreeMap<String, Map<String, Value>>,
}

impl Catalog {
    /// Reads the store. `fresh` stores take over the data of an eKuiper server in the same folder.
    pub fn open(store: Store, config: Arc<Config>) -> Result<Arc<Catalog>, String> {
        let etc = etc::EtcConf::load(&config)?;
        let seen = store
            .get(space::META, SEEN)
            .map_err(|e| e.to_string())?
            .is_some();
        let catalog = Catalog {
            store,
            config,
            edit: Mutex::new(()),
            memory: RwLock::default(),
            etc,
            fresh: !seen,
        };
        catalog.take_over()?;
        catalog.read_store()?;
        catalog.provision_connections()?;
        if !seen {
            let batch = Batch::new().put(space::META, SEEN, "1");
            catalog.store.write(batch).map_err(|e| e.to_string())?;
        }
        Ok(Arc::new(catalog))
    }

    fn read_store(&self) -> Result<(), String> {
        let scan = |space| self.store.scan(space).map_err(|e| e.to_string());
        let mut memory = Memory::default();
        for (name, value) in scan(space::STREAM)? {
            match StreamEntry::stored(&value) {
                Ok(entry) => drop(memory.streams.insert(name, Arc::new(entry))),
                Err(e) => tracing::error!("stream {name} is not usable and left out: {e}"),
            }
        }
        for (key, value) in scan(space::CONF)? {
            confkeys::load(&mut memory, &key, &value);
        }
        for (key, value) in scan(space::SCHEMA)? {
            if let (Some((kind, name)), Some(o)) = (key.split_once('_'), object(&value)) {
                let schema = Schema::stored(kind, name, &o);
                memory
                    .schemas
                    .insert((kind.to_owned(), name.to_owned()), schema);
            }
        }
        for (name, value) in scan(space::SERVICE)? {
            if let Some(service) = object(&value).and_then(|o| services::Service::stored(&o)) {
                memory.services.insert(name, service);
            }
        }
        let objects = |space| -> Result<BTreeMap<String, Map<String, Value>>, String> {
            Ok(scan(space)?
                .into_iter()
                .filter_map(|(k, v)| Some((k, object(&v)?)))
                .collect())
        };
        memory.native = objects(space::NATIVE)?;
        memory.portable = objects(space::PORTABLE)?;
        memory.uploads = objects(space::UPLOAD)?;
        memory.scripts = objects(space::SCRIPT)?;
        files::load(&self.config.dirs, &mut memory);
        *self.write() = memory;
        Ok(())
    }

    /// Whether the store was new at this start.
    pub fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// The rules as they are kept, by id.
    pub fn stored_rules(&self) -> Result<Vec<(String, String)>, String> {
        let rules = self.store.scan(space::RULE).map_err(|e| e.to_string())?;
        Ok(rules
            .into_iter()
            .map(|(id, text)| (id, String::from_utf8_lossy(&text).into_owned()))
            .collect())
    }

    fn read(&self) -> RwLockReadGuard<'_, Memory> {
        self.memory.read().unwrap_or_else(|e| e.into_inner())
    }

    fn write(&self) -> RwLockWriteGuard<'_, Memory> {
        self.memory.write().unwrap_or_else(|e| e.into_inner())
    }

    async fn edit(&self) -> MutexGuard<'_, ()> {
        self.edit.lock().await
    }

    /// Returns when the store has kept the batch.
    pub async fn keep(&self, batch: Batch) -> ApiResult<()> {
        let (tx, rx) = oneshot::channel();
        self.store
            .submit(batch, Box::new(move |r| drop(tx.send(r))));
        let kept = rx
            .await
            .map_err(|_| ApiError::from(rekuiper_store::StoreError::Closed))?;
        Ok(kept?)
    }

    /// Forgets everything but the rules, which the caller has dropped.
    pub async fn clear(&self) -> ApiResult<()> {
        let _edit = self.edit().await;
        let batch = space::ALL.iter().fold(Batch::new(), |b, s| b.clear(s));
        self.keep(batch).await?;
        let (schemas, services) = {
            let mut memory = self.write();
            let old = std::mem::take(&mut *memory);
            (old.schemas, old.services)
        };
        for schema in schemas.into_values() {
            self.remove_schema_file(&schema);
        }
        for name in services.into_keys() {
            self.remove_service_files(&name);
        }
        Ok(())
    }
}

/// The JSON object in stored bytes.
fn object(value: &[u8]) -> Option<Map<String, Value>> {
    serde_json::from_slice(value).ok()
}
