//! What the files of etc say of sources, read once at start.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::confkeys::{Kind, Sections};
use crate::config::{Config, tree};
use crate::connectors;

#[derive(Debug, Default)]
pub struct EtcConf {
    sources: BTreeMap<String, Sections>,
}

impl EtcConf {
    pub fn load(config: &Config) -> Result<EtcConf, String> {
        let mut out = EtcConf::default();
        for c in connectors::ALL.iter().filter(|c| c.source.is_some()) {
            let (stem, file) = place(&config.dirs.etc, c.name);
            let mut value = match file.is_file() {
                true => tree::read(&file)?,
                false => built_in(c.name),
            };
            config.env.apply(&stem, &mut value)?;
            out.sources
                .insert(c.name.to_owned(), sections(c.name, &file, value));
        }
        for dir in [
            config.dirs.etc.join("sources"),
            config.dirs.data.join("sources"),
        ] {
            out.load_others(&dir, config)?;
        }
        Ok(out)
    }

    /// Files of sources that are not built in.
    fn load_others(&mut self, dir: &Path, config: &Config) -> Result<(), String> {
        let Ok(entries) = std::fs::read_dir(dir) else {
            return Ok(());
        };
        for file in entries.flatten().map(|e| e.path()) {
            let stem = file
                .file_stem()
                .and_then(|s| s.to_str())
                .unwrap_or_default()
                .to_owned();
            let yaml = file.extension().is_some_and(|e| e == "yaml");
            if !yaml || stem.is_empty() || connectors::find(&stem).is_some() {
                continue;
            }
            let mut value = tree::read(&file)?;
            config.env.apply(&stem, &mut value)?;
            self.sources
                .insert(stem.clone(), sections(&stem, &file, value));
        }
        Ok(())
    }

    pub fn sections(&self, kind: Kind, typ: &str) -> Sections {
        match kind {
            Kind::Sources => self.sources.get(typ).cloned().unwrap_or_default(),
            Kind::Sinks | Kind::Connections => Sections::new(),
        }
    }
}

/// The name before the extension, and the file.
fn place(etc: &Path, typ: &str) -> (String, PathBuf) {
    match typ {
        "mqtt" => ("mqtt_source".into(), etc.join("mqtt_source.yaml")),
        typ => (typ.into(), etc.join("sources").join(format!("{typ}.yaml"))),
    }
}

fn built_in(typ: &str) -> Value {
    let lower = connectors::source_defaults(typ)
        .into_iter()
        .map(|(k, v)| (k.to_lowercase(), v));
    let default: Map<String, Value> = lower.collect();
    serde_json::json!({"default": default})
}

/// Gives property names their spelling back, which reading lost.
fn sections(typ: &str, file: &Path, value: Value) -> Sections {
    let sibling = std::fs::read(file.with_extension("json")).ok();
    let sibling: Value = sibling
        .and_then(|t| serde_json::from_slice(&t).ok())
        .unwrap_or_default();
    let mut names = BTreeMap::new();
    for p in sibling["properties"]["default"]
        .as_array()
        .into_iter()
        .flatten()
    {
        if let Some(name) = p["name"].as_str() {
            names.insert(name.to_lowercase(), name.to_owned());
        }
    }
    let spell = |k: String| match (names.get(&k), connectors::spelled(typ, &k)) {
        (Some(name), _) => name.clone(),
        (None, Some(name)) => name.to_owned(),
        (None, None) => k,
    };
    let Value::Object(sections) = value else {
        return Sections::new();
    };
    sections
        .into_iter()
        .filter_map(|(key, props)| match props {
            Value::Object(o) => Some((key, o.into_iter().map(|(k, v)| (spell(k), v)).collect())),
            Value::Null => Some((key, Map::new())),
            _ => None,
        })
        .collect()
}
