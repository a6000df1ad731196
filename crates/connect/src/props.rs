//! Properties of a source, a sink or a connection: a JSON object whose keys match in any case.

use std::cell::RefCell;
use std::collections::BTreeSet;

use serde_json::{Map, Value as Json};

use crate::ConnectError;

thread_local! {
    static ASKED: RefCell<Option<BTreeSet<String>>> = const { RefCell::new(None) };
}

/// Does some work and tells which keys it asked for, of any properties, on this thread. So it can
/// be held against what is said of a connector elsewhere.
pub fn keys_asked<T>(work: impl FnOnce() -> T) -> (T, BTreeSet<String>) {
    ASKED.set(Some(BTreeSet::new()));
    let done = work();
    (done, ASKED.take().unwrap_or_default())
}

/// See the module's doc. Unknown keys are ignored, as eKuiper does.
#[derive(Clone, Debug, Default)]
pub struct Props(pub Map<String, Json>);

impl Props {
    pub fn new(map: Map<String, Json>) -> Self {
        Props(map)
    }

    /// The value of a key: exact first, then in any case. Null counts as absent.
    pub fn get(&self, key: &str) -> Option<&Json> {
        ASKED.with_borrow_mut(|asked| {
            if let Some(asked) = asked {
                asked.insert(key.to_owned());
            }
        });
        let found = self.0.get(key).or_else(|| {
            self.0.iter().find(|(k, _)| k.eq_ignore_ascii_case(key)).map(|(_, v)| v)
        });
        found.filter(|v| !v.is_null())
    }

    fn wrong(&self, key: &str, want: &str, found: &Json) -> ConnectError {
        ConnectError::config(format!("property {key} must be {want}, found {found}"))
    }

    pub fn str(&self, key: &str) -> Result<Option<&str>, ConnectError> {
        match self.get(key) {
            None => Ok(None),
            Some(Json::String(s)) => Ok(Some(s)),
            Some(other) => Err(self.wrong(key, "text", other)),
        }
    }

    /// The text, or `default` when it is absent or empty.
    pub fn str_or<'a>(&'a self, key: &str, default: &'a str) -> Result<&'a str, ConnectError> {
        Ok(self.str(key)?.filter(|s| !s.is_empty()).unwrap_or(default))
    }

    pub fn required(&self, key: &str, of: &str) -> Result<&str, ConnectError> {
        match self.str(key)? {
            Some(text) if !text.is_empty() => Ok(text),
            _ => Err(ConnectError::config(format!("{of} is missing property {key}"))),
        }
    }

    pub fn bool(&self, key: &str, default: bool) -> Result<bool, ConnectError> {
        match self.get(key) {
            None => Ok(default),
            Some(Json::Bool(b)) => Ok(*b),
            Some(Json::String(s)) if s.eq_ignore_ascii_case("true") => Ok(true),
            Some(Json::String(s)) if s.eq_ignore_ascii_case("false") => Ok(false),
            Some(other) => Err(self.wrong(key, "true or false", other)),
        }
    }

    pub fn int(&self, key: &str, default: i64) -> Result<i64, ConnectError> {
        match self.get(key) {
            None => Ok(default),
            Some(Json::Number(n)) => match n.as_i64() {
                Some(i) => Ok(i),
                None => match n.as_f64() {
                    Some(f) if f.trunc() == f && f.abs() < 9e15 => Ok(f as i64),
                    _ => Err(self.wrong(key, "a whole number", &Json::Number(n.clone()))),
                },
            },
            Some(other) => Err(self.wrong(key, "a whole number", other)),
        }
    }

    /// A duration in milliseconds: a number of milliseconds, or text such as `1.5s`, `2m`.
    pub fn millis(&self, key: &str, default: i64) -> Result<i64, ConnectError> {
        match self.get(key) {
            None => Ok(default),
            Some(Json::Number(n)) => Ok(n.as_f64().unwrap_or_default() as i64),
            Some(Json::String(s)) if s.is_empty() => Ok(default),
            Some(Json::String(s)) => match rekuiper_value::time::parse_duration(s) {
                Ok(nanos) => Ok(nanos / 1_000_000),
                Err(_) => {
                    Err(self.wrong(key, "a duration (1500, 1.5s, 2m)", &Json::String(s.clone())))
                }
            },
            Some(other) => Err(self.wrong(key, "a duration (1500, 1.5s, 2m)", other)),
        }
    }

    /// A list of texts.
    pub fn list(&self, key: &str) -> Result<Vec<String>, ConnectError> {
        match self.get(key) {
            None => Ok(Vec::new()),
            Some(Json::Array(items)) => items
                .iter()
                .map(|v| match v {
                    Json::String(s) => Ok(s.clone()),
                    other => Err(self.wrong(key, "a list of texts", other)),
                })
                .collect(),
            Some(other) => Err(self.wrong(key, "a list of texts", other)),
        }
    }

    pub fn map(&self, key: &str) -> Result<Map<String, Json>, ConnectError> {
        match self.get(key) {
            None => Ok(Map::new()),
            Some(Json::Object(map)) => Ok(map.clone()),
            Some(other) => Err(self.wrong(key, "an object", other)),
        }
    }

    /// These over others: keys match in any case.
    pub fn over(mut self, base: &Props) -> Props {
        for (key, value) in &base.0 {
            if self.get(key).is_none() && !self.0.contains_key(key) {
                self.0.insert(key.clone(), value.clone());
            }
        }
        self
    }
}
