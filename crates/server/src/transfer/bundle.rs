//! Twelve parts, each name to text.

use serde_json::{Map, Value};

use crate::error::{ApiError, ApiResult};

/// The parts, in the order of the original.
pub const KEYS: [&str; 12] = [
    "streams",
    "tables",
    "rules",
    "nativePlugins",
    "portablePlugins",
    "sourceConfig",
    "sinkConfig",
    "connectionConfig",
    "Service",
    "Schema",
    "uploads",
    "scripts",
];

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Bundle {
    parts: [Map<String, Value>; 12],
}

impl Bundle {
    fn index(key: &str) -> usize {
        KEYS.iter().position(|k| *k == key).unwrap_or(0)
    }

    pub fn part(&self, key: &str) -> &Map<String, Value> {
        &self.parts[Bundle::index(key)]
    }

    /// Name and text of all entries of a part.
    pub fn texts(&self, key: &str) -> Vec<(String, String)> {
        let text = |v: &Value| v.as_str().map_or_else(|| v.to_string(), str::to_owned);
        self.part(key)
            .iter()
            .map(|(k, v)| (k.clone(), text(v)))
            .collect()
    }

    pub fn put(&mut self, key: &str, name: impl Into<String>, text: impl Into<String>) {
        self.parts[Bundle::index(key)].insert(name.into(), Value::String(text.into()));
    }

    pub fn is_empty(&self) -> bool {
        self.parts.iter().all(Map::is_empty)
    }

    pub fn parse(text: &str) -> ApiResult<Bundle> {
        let o = crate::web::json::object(text.as_bytes())?;
        let mut out = Bundle::default();
        for (i, key) in KEYS.iter().enumerate() {
            match crate::web::json::member(&o, key) {
                None => {}
                Some(Value::Object(part)) => out.parts[i] = part.clone(),
                Some(other) => {
                    return Err(crate::web::json::wrong(key, "an object of texts", other));
                }
            }
        }
        for (key, part) in KEYS.iter().zip(&out.parts) {
            if let Some((name, _)) = part.iter().find(|(_, v)| !v.is_string()) {
                return Err(ApiError::bad(format!("{key}: {name} must be text")));
            }
        }
        Ok(out)
    }

    pub fn to_value(&self) -> Value {
        KEYS.iter()
            .zip(&self.parts)
            .map(|(k, p)| ((*k).to_owned(), p.clone().into()))
            .collect::<Map<_, _>>()
            .into()
    }
}
