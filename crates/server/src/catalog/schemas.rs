//! Schemas of messages: protobuf files and custom ones.

use std::path::PathBuf;

use rekuiper_store::Batch;
use serde_json::{Map, Value};

use super::{Catalog, space};
use crate::error::{ApiError, ApiResult};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Schema {
    pub kind: String,
    pub name: String,
    pub content: Option<String>,
    pub so_file: Option<String>,
    pub version: Option<String>,
    /// Where it was found, if not put over the API.
    pub file: Option<PathBuf>,
}

pub const KINDS: [&str; 2] = ["protobuf", "custom"];

pub fn check_kind(kind: &str) -> ApiResult<&str> {
    if KINDS.contains(&kind) {
        return Ok(kind);
    }
    Err(ApiError::bad(format!(
        "schema type {kind:?} is not known, expected protobuf or custom"
    )))
}

impl Schema {
    pub(super) fn stored(kind: &str, name: &str, o: &Map<String, Value>) -> Schema {
        let text = |key: &str| o.get(key).and_then(Value::as_str).map(str::to_owned);
        Schema {
            kind: kind.to_owned(),
            name: name.to_owned(),
            content: text("content"),
            so_file: text("soFile"),
            version: text("version"),
            file: None,
        }
    }

    /// As it is kept and exported.
    pub fn to_value(&self) -> Value {
        let mut o = Map::new();
        o.insert("type".into(), self.kind.clone().into());
        o.insert("name".into(), self.name.clone().into());
        let parts = [
            ("content", &self.content),
            ("soFile", &self.so_file),
            ("version", &self.version),
        ];
        for (key, value) in parts {
            if let Some(value) = value {
                o.insert(key.into(), value.clone().into());
            }
        }
        o.into()
    }

    pub(super) fn key(&self) -> (String, String) {
        (self.kind.clone(), self.name.clone())
    }

    fn file_name(&self) -> String {
        match self.kind.as_str() {
            "protobuf" => format!("{}.proto", self.name),
            _ => self.name.clone(),
        }
    }
}

impl Catalog {
    pub fn schemas(&self, kind: &str) -> Vec<String> {
        self.read()
            .schemas
            .keys()
            .filter(|(k, _)| k == kind)
            .map(|(_, n)| n.clone())
            .collect()
    }

    pub fn all_schemas(&self) -> Vec<Schema> {
        self.read().schemas.values().cloned().collect()
    }

    pub fn schema(&self, kind: &str, name: &str) -> Option<Schema> {
        self.read()
            .schemas
            .get(&(kind.to_owned(), name.to_owned()))
            .cloned()
    }

    pub fn schema_file(&self, schema: &Schema) -> PathBuf {
        if let Some(found) = &schema.file {
            return found.clone();
        }
        self.config
            .dirs
            .data
            .join("schemas")
            .join(&schema.kind)
            .join(schema.file_name())
    }

    /// Whether it is new. With `only_new` one that exists is refused.
    pub async fn put_schema(&self, schema: Schema, only_new: bool) -> ApiResult<bool> {
        let _edit = self.edit().await;
        let old = self.schema(&schema.kind, &schema.name);
        let Schema { kind, name, .. } = &schema;
        if let Some(old) = &old {
            if only_new {
                return Err(ApiError::bad(format!(
                    "{kind} schema {name} already exists"
                )));
            }
            let (was, is) = (&old.version, &schema.version);
            if was.is_some() && is < was {
                let was = was.as_deref().unwrap_or_default();
                return Err(ApiError::bad(format!(
                    "{kind} schema {name} has version {was}, the new one is lower"
                )));
            }
        }
        let file = self.schema_file(&schema);
        let write = || -> std::io::Result<()> {
            if let Some(dir) = file.parent() {
                std::fs::create_dir_all(dir)?;
            }
            std::fs::write(&file, schema.content.as_deref().unwrap_or_default())
        };
        write().map_err(|e| ApiError::bad(format!("the schema cannot be written: {e}")))?;
        let key = format!("{kind}_{name}");
        self.keep(Batch::new().put(space::SCHEMA, &key, schema.to_value().to_string()))
            .await?;
        self.write().schemas.insert(schema.key(), schema);
        Ok(old.is_none())
    }

    pub async fn drop_schema(&self, kind: &str, name: &str) -> ApiResult<()> {
        let _edit = self.edit().await;
        let Some(old) = self.schema(kind, name) else {
            return Err(ApiError::bad(format!(
                "{kind} schema {name} does not exist"
            )));
        };
        self.keep(Batch::new().delete(space::SCHEMA, &format!("{kind}_{name}")))
            .await?;
        self.write().schemas.remove(&old.key());
        self.remove_schema_file(&old);
        Ok(())
    }

    pub(super) fn remove_schema_file(&self, schema: &Schema) {
        let file = self.schema_file(schema);
        // what an administrator put into etc is not ours to remove
        if file.starts_with(&self.config.dirs.data) {
            let _ = std::fs::remove_file(file);
        }
    }
}
