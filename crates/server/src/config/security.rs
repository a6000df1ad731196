//! The section `security`: what the word `default` means as `tls` or `encryption` of a connector.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value};

use super::Config;

impl Config {
    /// Puts what `tls: default` and `encryption: default` stand for under a connector's own
    /// properties.
    pub fn secure(&self, mut props: Map<String, Value>) -> Map<String, Value> {
        let says_default = |props: &Map<String, Value>, key| {
            props.get(key).and_then(Value::as_str) == Some("default")
        };
        if says_default(&props, "tls") {
            for (key, value) in self.section("security.tls") {
                let written = rekuiper_connect::tls::KEYS.iter().find(|k| k.to_lowercase() == key);
                let key = written.map_or(key, |k| (*k).to_owned());
                props.entry(key).or_insert(value);
            }
        }
        if says_default(&props, "encryption") {
            let own = self.section("security.encryption");
            if let Some(properties) = own.get("properties").filter(|p| p.is_object()) {
                props.entry("encProps").or_insert_with(|| properties.clone());
            }
        }
        props
    }

    /// The key of `encryption: aes` is `basic.aesKey`; `default` has one of its own, or borrows it.
    pub fn encryption_key(&self, name: &str) -> Option<Vec<u8>> {
        let section = self.section("security.encryption");
        let own = match name {
            "default" if section.is_empty() => return None,
            "default" => text(&section, "key"),
            _ => "",
        };
        let text = if own.is_empty() { &self.basic.aes_key } else { own };
        Some(text.trim()).filter(|t| !t.is_empty()).and_then(|t| STANDARD.decode(t).ok())
    }

    /// Faults of the section, and of keys, that must end the start.
    pub(super) fn check_keys(&self) -> Result<(), String> {
        let of_section = self.section("security.encryption");
        let given = [
            ("basic.aesKey", self.basic.aes_key.as_str()),
            ("security.encryption.key", text(&of_section, "key")),
        ];
        for (name, value) in given.into_iter().filter(|(_, v)| !v.is_empty()) {
            let bytes = STANDARD.decode(value.trim()).map(|b| b.len());
            if !matches!(bytes, Ok(16 | 24 | 32)) {
                return Err(format!("{name}: expected base64 of 16, 24 or 32 bytes"));
            }
        }
        for key in ["type", "extStateType"] {
            let kinds = ["", "sqlite", "redis", "pebble", "fdb"];
            let section = self.section("store");
            let given = text(&section, &key.to_lowercase());
            if !kinds.contains(&given) {
                return Err(format!(
                    "store.{key}: expected sqlite, redis, pebble or fdb, found {given:?}"
                ));
            }
        }
        match text(&of_section, "algorithm") {
            "" | "aes" => Ok(()),
            other => Err(format!("security.encryption.algorithm: expected aes, found {other:?}")),
        }
    }
}

fn text<'a>(section: &'a Map<String, Value>, key: &str) -> &'a str {
    section.get(key).and_then(Value::as_str).unwrap_or_default()
}
