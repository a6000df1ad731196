//! What lies in folders instead of the store: schemas and services that an administrator put into
//! `etc`, or that an eKuiper server left in `data`. Read once at start; the files stay as they are.

use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::{Memory, Schema, Service};
use crate::config::Dirs;
use crate::web::check_name;

/// Largest file that is taken for a schema or a descriptor.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// Puts what the folders hold beside what the store holds. Of schemas with one name the newer
/// version wins, on a tie that of the store, then that of `data`; a service of the store stays.
pub(super) fn load(dirs: &Dirs, memory: &mut Memory) {
    for dir in [&dirs.data, &dirs.etc] {
        for (stem, path) in files(&dir.join("schemas/protobuf"), "proto") {
            if let Some(schema) = schema(&stem, path) {
                let known = memory.schemas.get(&schema.key());
                if known.is_none_or(|known| known.version < schema.version) {
                    memory.schemas.insert(schema.key(), schema);
                }
            }
        }
        let services = dir.join("services");
        for (name, path) in files(&services, "json") {
            if memory.services.contains_key(&name) {
                continue;
            }
            match service(&name, &path, &services.join("schemas")) {
                Ok(service) => drop(memory.services.insert(name, service)),
                Err(why) => tracing::error!("service {name} of {}: {why}", path.display()),
            }
        }
    }
}

/// `name.proto` or `name@version.proto`.
fn schema(stem: &str, path: PathBuf) -> Option<Schema> {
    let (name, version) = match stem.split_once('@') {
        Some((name, version)) => (name, Some(version.to_owned())),
        None => (stem, None),
    };
    check_name("schema name", name).ok()?;
    Some(Schema {
        kind: "protobuf".into(),
        name: name.into(),
        content: Some(text(&path)?),
        so_file: None,
        version,
        file: Some(path),
    })
}

fn service(name: &str, path: &Path, schemas: &Path) -> Result<Service, String> {
    check_name("service name", name).map_err(|e| e.message)?;
    let text_of = text(path).ok_or("it cannot be read")?;
    let descriptor: Value = serde_json::from_str(&text_of).map_err(|e| e.to_string())?;
    let proto = |file: &str| {
        let plain = !file.contains('/') && !file.is_empty();
        plain.then(|| text(&schemas.join(file))).flatten()
    };
    // made by nobody's request: it is not part of exports
    Service::read(name, Map::new(), &descriptor, proto).map_err(|e| e.message)
}

/// Stem and path of the files of a kind, in the order of their names.
fn files(dir: &Path, extension: &str) -> Vec<(String, PathBuf)> {
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    let named = entries.filter_map(|entry| {
        let path = entry.path();
        let stem = path.file_stem()?.to_str()?.to_owned();
        let wanted = path.extension().is_some_and(|e| e == extension) && path.is_file();
        wanted.then_some((stem, path))
    });
    let mut all: Vec<_> = named.collect();
    all.sort();
    all
}

fn text(path: &Path) -> Option<String> {
    let small = std::fs::metadata(path).is_ok_and(|m| m.len() <= FILE_BYTES_MAX);
    small.then(|| std::fs::read_to_string(path).ok()).flatten()
}
