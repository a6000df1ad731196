//! YAML files as trees whose keys are in lower case, because settings match whatever their case.

use std::cell::RefCell;
use std::path::Path;

use serde_json::{Map, Value};

use super::duration;

pub fn parse(text: &str) -> Result<Value, String> {
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    let value: Value = serde_norway::from_str(text).map_err(|e| e.to_string())?;
    Ok(match lower(value) {
        Value::Null => Value::Object(Map::new()),
        other => other,
    })
}

pub fn read(file: &Path) -> Result<Value, String> {
    let fault = |e: String| format!("{} cannot be read: {e}", file.display());
    let text = std::fs::read_to_string(file).map_err(|e| fault(e.to_string()))?;
    let value = parse(&text).map_err(fault)?;
    if value.is_object() {
        Ok(value)
    } else {
        Err(fault("it is not a map of settings".into()))
    }
}

fn lower(v: Value) -> Value {
    match v {
        Value::Object(o) => o
            .into_iter()
            .map(|(k, v)| (k.to_lowercase(), lower(v)))
            .collect::<Map<_, _>>()
            .into(),
        Value::Array(a) => a.into_iter().map(lower).collect::<Vec<_>>().into(),
        other => other,
    }
}

/// Puts `over` on top of `base`, member by member.
pub fn overlay(base: &mut Value, over: Value) {
    match (base, over) {
        (Value::Object(base), Value::Object(over)) => {
            for (k, v) in over {
                overlay(base.entry(k).or_insert(Value::Null), v);
            }
        }
        (_, Value::Null) => {}
        (base, over) => *base = over,
    }
}

/// Typed looks into a tree; paths in any case, levels parted by dots.
/// A value of the wrong kind is remembered; [`Tree::check`] tells of all of them.
pub struct Tree<'a> {
    root: &'a Value,
    wrong: RefCell<Vec<String>>,
    /// Which paths were asked for, so that a test can tell the settings that nobody reads.
    #[cfg(test)]
    pub asked: RefCell<Vec<String>>,
}

impl<'a> Tree<'a> {
    pub fn new(v: &'a Value) -> Tree<'a> {
        Tree {
            root: v,
            wrong: RefCell::default(),
            #[cfg(test)]
            asked: RefCell::default(),
        }
    }

    /// An error that names every setting whose value is of the wrong kind.
    pub fn check(&self) -> Result<(), String> {
        let faults = self.wrong.borrow();
        if faults.is_empty() { Ok(()) } else { Err(faults.join("; ")) }
    }

    fn wrong(&self, path: &str, expected: &str, found: &Value) {
        self.wrong.borrow_mut().push(format!("{path}: expected {expected}, found {found}"));
    }

    /// The value where it is of the wanted kind.
    fn of<T>(
        &self,
        path: &str,
        expected: &str,
        read: impl Fn(&'a Value) -> Option<T>,
    ) -> Option<T> {
        let found = self.get(path)?;
        let value = read(found);
        if value.is_none() {
            self.wrong(path, expected, found);
        }
        value
    }

    pub fn get(&self, path: &str) -> Option<&'a Value> {
        let path = path.to_lowercase();
        let found = path.split('.').try_fold(self.root, |v, key| v.get(key));
        #[cfg(test)]
        self.asked.borrow_mut().push(path);
        let found = found?;
        Some(found).filter(|v| !v.is_null())
    }

    pub fn flag(&self, path: &str) -> bool {
        self.of(path, "true or false", Value::as_bool).unwrap_or(false)
    }

    pub fn text(&self, path: &str) -> String {
        match self.get(path) {
            Some(Value::String(s)) => s.clone(),
            Some(v @ (Value::Number(_) | Value::Bool(_))) => v.to_string(),
            Some(other) => {
                self.wrong(path, "text", other);
                String::new()
            }
            None => String::new(),
        }
    }

    pub fn int(&self, path: &str) -> Option<i64> {
        self.of(path, "a whole number", Value::as_i64)
    }

    pub fn time(&self, path: &str) -> Option<i64> {
        self.of(path, "a duration such as 1500 or 1.5s", duration::of)
    }

    pub fn port(&self, path: &str) -> Result<u16, String> {
        let n = self.int(path).unwrap_or(0);
        u16::try_from(n).map_err(|_| format!("{path}: {n} is no port, expected 0 to 65535"))
    }

    pub fn tls(&self, path: &str) -> Option<(String, String)> {
        self.get(path)?;
        let file = |key: &str| self.text(&format!("{path}.{key}"));
        Some((file("certfile"), file("keyfile")))
    }
}
