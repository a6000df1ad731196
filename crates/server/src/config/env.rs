//! Environment variables over settings of files: `FILE__KEY__KEY=value`.

use serde_json::{Map, Value};

/// The environment as it was at start.
#[derive(Debug, Clone, Default)]
pub struct Env(Vec<(String, String)>);

const SECRET: [&str; 7] = [
    "password",
    "pass",
    "token",
    "secret",
    "key",
    "credential",
    "auth",
];

impl Env {
    pub fn of_process() -> Env {
        let text = |(k, v): (std::ffi::OsString, std::ffi::OsString)| {
            Some((k.into_string().ok()?, v.into_string().ok()?))
        };
        Env(std::env::vars_os().filter_map(text).collect())
    }

    pub fn new(vars: &[(&str, &str)]) -> Env {
        Env(vars
            .iter()
            .map(|(k, v)| ((*k).into(), (*v).into()))
            .collect())
    }

    /// The value of a variable.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(k, _)| k == name).map(|(_, v)| v.as_str())
    }

    /// Sets in `tree` what variables say of the file called `stem` (without its extension).
    pub fn apply(&self, stem: &str, tree: &mut Value) -> Result<(), String> {
        for line in self.applied(stem, tree)? {
            tracing::info!("{line}");
        }
        Ok(())
    }

    /// The same, for callers before there is a log: what is to be told is given back.
    pub fn applied(&self, stem: &str, tree: &mut Value) -> Result<Vec<String>, String> {
        let mut told = Vec::new();
        let prefix = format!("{}__", stem.to_uppercase());
        for (name, value) in &self.0 {
            let Some(path) = name.strip_prefix(&prefix).map(str::to_lowercase) else {
                continue;
            };
            let keys: Vec<&str> = path.split("__").collect();
            set(tree, &keys, typed(value))
                .map_err(|e| format!("environment variable {name}: {e}"))?;
            let dotted = format!("{}.{}", stem.to_lowercase(), keys.join("."));
            let secret = SECRET
                .iter()
                .any(|s| keys.last().is_some_and(|k| k.contains(s)));
            let shown = if secret { "***" } else { value.as_str() };
            told.push(format!("Set config '{dotted}' to '{shown}' by environment variable"));
        }
        Ok(told)
    }
}

fn set(tree: &mut Value, keys: &[&str], value: Value) -> Result<(), String> {
    let mut at = tree;
    for (i, key) in keys.iter().enumerate() {
        if at.is_null() {
            *at = Value::Object(Map::new());
        }
        let Value::Object(o) = at else {
            return Err(format!(
                "{} is a single value and has no parts",
                keys[..i].join(".")
            ));
        };
        at = o.entry(*key).or_insert(Value::Null);
    }
    *at = value;
    Ok(())
}

/// A list in brackets, a whole number, a boolean, a float, else text.
fn typed(text: &str) -> Value {
    let text = text.trim();
    match text.strip_prefix('[').and_then(|t| t.strip_suffix(']')) {
        Some(list) if list.trim().is_empty() => Value::Array(Vec::new()),
        Some(list) => list
            .split(',')
            .map(|e| scalar(e.trim()))
            .collect::<Vec<_>>()
            .into(),
        None => scalar(text),
    }
}

fn scalar(text: &str) -> Value {
    if let Ok(n) = text.parse::<i64>() {
        return n.into();
    }
    match text {
        "t" | "T" | "TRUE" | "true" | "True" => return true.into(),
        "f" | "F" | "FALSE" | "false" | "False" => return false.into(),
        _ => {}
    }
    let looks_numeric = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
    match text.parse::<f64>() {
        Ok(f) if looks_numeric && f.is_finite() => f.into(),
        _ => text.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn applied(stem: &str, vars: &[(&str, &str)], mut tree: Value) -> Value {
        Env::new(vars).apply(stem, &mut tree).unwrap();
        tree
    }

    #[test]
    fn missing_levels_are_made_and_values_typed() {
        let vars = [
            ("KUIPER__BASIC__RESTPORT", "9094"),
            ("KUIPER__BASIC__DEBUG", " true "),
            ("KUIPER__A__B__C", "[1, x,2.5]"),
            ("KUIPER__S", "a=b=c"),
            ("OTHER__S", "1"),
        ];
        let want = json!({
            "basic": {"restport": 9094, "debug": true},
            "a": {"b": {"c": [1, "x", 2.5]}},
            "s": "a=b=c"});
        assert_eq!(
            applied("kuiper", &vars, json!({"basic": {"restport": 1}})),
            want
        );
    }

    #[test]
    fn one_is_a_number_and_t_is_true() {
        let vars = [
            ("F__A", "1"),
            ("F__B", "t"),
            ("F__C", "1e3"),
            ("F__D", "inf"),
            ("F__E", ""),
        ];
        let want = json!({"a": 1, "b": true, "c": 1000.0, "d": "inf", "e": ""});
        assert_eq!(applied("f", &vars, json!({})), want);
    }

    #[test]
    fn a_value_in_the_middle_of_the_path_is_an_error() {
        let mut tree = json!({"a": 1});
        assert!(Env::new(&[("F__A__B", "1")]).apply("f", &mut tree).is_err());
    }
}
