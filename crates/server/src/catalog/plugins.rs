//! The register of plugins: what was installed, and from where.

use rekuiper_store::Batch;
use serde_json::{Map, Value};

use super::{Catalog, space};
use crate::error::ApiResult;

/// Native plugins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PluginKind {
    Sources,
    Sinks,
    Functions,
}

impl PluginKind {
    pub fn of(word: &str) -> Option<PluginKind> {
        [
            PluginKind::Sources,
            PluginKind::Sinks,
            PluginKind::Functions,
        ]
        .into_iter()
        .find(|k| k.word() == word)
    }

    pub fn word(self) -> &'static str {
        match self {
            PluginKind::Sources => "sources",
            PluginKind::Sinks => "sinks",
            PluginKind::Functions => "functions",
        }
    }
}

type Request = Map<String, Value>;

impl Catalog {
    pub fn native_plugins(&self, kind: PluginKind) -> Vec<(String, Request)> {
        let prefix = format!("{}_", kind.word());
        let memory = self.read();
        let own = memory
            .native
            .iter()
            .filter_map(|(k, v)| Some((k.strip_prefix(&prefix)?, v)));
        own.map(|(name, request)| (name.to_owned(), request.clone()))
            .collect()
    }

    pub fn native_plugin(&self, kind: PluginKind, name: &str) -> Option<Request> {
        self.read()
            .native
            .get(&format!("{}_{name}", kind.word()))
            .cloned()
    }

    /// All requests, by `KIND_name`, as exported.
    pub fn native_requests(&self) -> Vec<(String, Request)> {
        self.read()
            .native
            .iter()
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect()
    }

    pub async fn put_native(
        &self,
        kind: PluginKind,
        name: &str,
        request: Request,
    ) -> ApiResult<()> {
        let _edit = self.edit().await;
        let key = format!("{}_{name}", kind.word());
        let text = Value::Object(request.clone()).to_string();
        self.keep(Batch::new().put(space::NATIVE, &key, text))
            .await?;
        self.write().native.insert(key, request);
        Ok(())
    }

    pub async fn drop_native(&self, kind: PluginKind, name: &str) -> ApiResult<bool> {
        let _edit = self.edit().await;
        let key = format!("{}_{name}", kind.word());
        self.keep(Batch::new().delete(space::NATIVE, &key)).await?;
        Ok(self.write().native.remove(&key).is_some())
    }

    pub fn portable_plugins(&self) -> Vec<(String, Request)> {
        self.read()
            .portable
            .iter()
            .map(|(k, v)| (k.clone(), v.clone()))
            .collect()
    }

    pub fn portable_plugin(&self, name: &str) -> Option<Request> {
        self.read().portable.get(name).cloned()
    }

    pub async fn put_portable(&self, name: &str, item: Request) -> ApiResult<()> {
        let _edit = self.edit().await;
        let text = Value::Object(item.clone()).to_string();
        self.keep(Batch::new().put(space::PORTABLE, name, text))
            .await?;
        self.write().portable.insert(name.to_owned(), item);
        Ok(())
    }

    pub async fn drop_portable(&self, name: &str) -> ApiResult<bool> {
        let _edit = self.edit().await;
        self.keep(Batch::new().delete(space::PORTABLE, name))
            .await?;
        Ok(self.write().portable.remove(name).is_some())
    }
}
