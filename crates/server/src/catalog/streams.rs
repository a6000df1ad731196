//! Streams and tables; both share one space of names.

use std::sync::Arc;

use rekuiper_sql::{Statement, StreamDef, StreamKind, parse_statement};
use rekuiper_store::Batch;
use serde_json::{Value, json};

use super::{Catalog, space};
use crate::connectors;
use crate::error::{ApiError, ApiResult};
use crate::web::is_name;

/// A stream or table and the statement that made it.
#[derive(Debug, Clone)]
pub struct StreamEntry {
    pub def: Arc<StreamDef>,
    pub statement: String,
}

impl StreamEntry {
    /// A CREATE statement, with all that a definition must hold.
    pub fn parse(sql: &str) -> ApiResult<StreamEntry> {
        match parse_statement(sql) {
            Ok(Statement::Create(def)) => StreamEntry::of(*def, sql),
            Ok(_) => Err(ApiError::stream(
                "expected a CREATE STREAM or CREATE TABLE statement",
            )),
            Err(e) => Err(ApiError::stream(e.render(sql))),
        }
    }

    pub fn of(def: StreamDef, sql: &str) -> ApiResult<StreamEntry> {
        if !is_name(&def.name) {
            let rule = "use letters, digits, '_' and '-' only";
            return Err(ApiError::stream(format!(
                "{:?} is not a valid name: {rule}",
                def.name
            )));
        }
        def.validate(connectors::offers_lookup)
            .map_err(ApiError::stream)?;
        Ok(StreamEntry {
            def: Arc::new(def),
            statement: sql.to_owned(),
        })
    }

    pub(super) fn stored(value: &[u8]) -> ApiResult<StreamEntry> {
        let o = super::object(value).ok_or_else(|| ApiError::bad("it is not a JSON object"))?;
        StreamEntry::parse(
            o.get("statement")
                .and_then(Value::as_str)
                .unwrap_or_default(),
        )
    }

    pub fn is(&self, kind: StreamKind) -> bool {
        self.def.kind == kind
    }

    pub fn is_lookup(&self) -> bool {
        let kind = self.def.options.kind.as_deref().unwrap_or_default();
        self.is(StreamKind::Table) && kind.eq_ignore_ascii_case("lookup")
    }

    pub fn is_temp(&self) -> bool {
        self.def.options.temp == Some(true)
    }

    fn version(&self) -> &str {
        self.def.options.version.as_deref().unwrap_or_default()
    }

    fn kept(&self) -> String {
        let lookup = if self.is_lookup() { "lookup" } else { "" };
        json!({
            "streamType": i32::from(self.is(StreamKind::Table)),
            "streamKind": lookup,
            "statement": self.statement,
        })
        .to_string()
    }
}

impl Catalog {
    /// A stream or table of this name.
    pub fn source(&self, name: &str) -> Option<Arc<StreamEntry>> {
        self.read().streams.get(name).cloned()
    }

    /// All streams, or all tables, by name.
    pub fn sources(&self, kind: StreamKind) -> Vec<(String, Arc<StreamEntry>)> {
        let memory = self.read();
        let of_kind = memory.streams.iter().filter(|(_, e)| e.is(kind));
        of_kind.map(|(n, e)| (n.clone(), e.clone())).collect()
    }

    /// One of the given kind, or a refusal as describing one gives.
    pub fn described(&self, kind: StreamKind, name: &str) -> ApiResult<Arc<StreamEntry>> {
        self.source(name).filter(|e| e.is(kind)).ok_or_else(|| {
            let what = kind.title();
            ApiError::stream(format!("{what} {name} is not found"))
        })
    }

    pub async fn create_source(&self, entry: StreamEntry) -> ApiResult<()> {
        let _edit = self.edit().await;
        let name = entry.def.name.to_string();
        if let Some(old) = self.source(&name) {
            let what = old.def.kind.title();
            return Err(ApiError::stream(format!(
                "{what} {name} already exists, drop it first"
            )));
        }
        self.put_source(name, entry).await
    }

    /// Replaces one of the same kind, or makes it.
    pub async fn replace_source(&self, name: &str, entry: StreamEntry) -> ApiResult<()> {
        let _edit = self.edit().await;
        let own = entry.def.name.as_str();
        if own != name {
            return Err(ApiError::stream(format!(
                "the statement defines {own}, not {name}"
            )));
        }
        if let Some(old) = self.source(name) {
            replaceable(&old, &entry)?;
        }
        self.put_source(name.to_owned(), entry).await
    }

    async fn put_source(&self, name: String, entry: StreamEntry) -> ApiResult<()> {
        if !entry.is_temp() {
            self.keep(Batch::new().put(space::STREAM, &name, entry.kept()))
                .await?;
        }
        self.write().streams.insert(name, Arc::new(entry));
        Ok(())
    }

    pub async fn drop_source(&self, kind: StreamKind, name: &str) -> ApiResult<Arc<StreamEntry>> {
        let _edit = self.edit().await;
        let Some(old) = self.source(name).filter(|e| e.is(kind)) else {
            return Err(ApiError::not_found(format!(
                "{} {name} is not found",
                kind.title()
            )));
        };
        self.keep(Batch::new().delete(space::STREAM, name)).await?;
        self.write().streams.remove(name);
        Ok(old)
    }
}

fn replaceable(old: &StreamEntry, new: &StreamEntry) -> ApiResult<()> {
    let name = &new.def.name;
    if !old.is(new.def.kind) {
        let (was, is) = (old.def.kind.title(), new.def.kind.title());
        return Err(ApiError::not_found(format!(
            "{is} {name} is not found, it is a {was}"
        )));
    }
    let shared = |e: &StreamEntry| e.def.options.shared.unwrap_or(false);
    if shared(old) != shared(new) {
        return Err(ApiError::stream(format!(
            "{name}: SHARED cannot be changed, drop it first"
        )));
    }
    if new.is_temp() && !old.is_temp() {
        return Err(ApiError::stream(format!(
            "{name} is kept and cannot become temporary"
        )));
    }
    let (was, is) = (old.version(), new.version());
    if (!was.is_empty() || !is.is_empty()) && is <= was {
        return Err(ApiError::stream(format!(
            "{name} has version {was:?}, the new version {is:?} is not greater"
        )));
    }
    Ok(())
}
