//! A fresh store beside the database of an eKuiper server takes over what that one holds. The
//! original stays as it is.

use rekuiper_store::{Batch, import_ekuiper};
use serde_json::Value;

use super::{Catalog, space};

/// Written last: a take-over that was cut short is done again.
const DONE: &str = "takenOver";

impl Catalog {
    pub(super) fn take_over(&self) -> Result<(), String> {
        let fault = |e: rekuiper_store::StoreError| e.to_string();
        let data = &self.config.dirs.data;
        let database = data.join(&self.config.basic.store_name);
        if !database.is_file() || self.store.get(space::META, DONE).map_err(fault)?.is_some() {
            return Ok(());
        }
        let contents = import_ekuiper::read(&database, data).map_err(fault)?;
        for (table, key, why) in &contents.unreadable {
            tracing::warn!("{table} {key} of the eKuiper store cannot be read: {why}");
        }
        let tables = [
            ("stream", space::STREAM),
            ("rule", space::RULE),
            ("schema", space::SCHEMA),
            ("nativePlugin", space::NATIVE),
            ("portablePlugin", space::PORTABLE),
            ("uploads", space::UPLOAD),
            ("script", space::SCRIPT),
        ];
        let mut batch = Batch::new().put(space::META, DONE, "1");
        let mut count = 0;
        for (table, to) in tables {
            for (key, value) in contents.of(table) {
                if let Value::String(text) = value {
                    batch = batch.put(to, key, text.as_bytes());
                    count += 1;
                }
            }
        }
        for (key, value) in contents.of("confKVStorage") {
            let kinds = ["sources.", "sinks.", "connections."];
            if value.is_object() && kinds.iter().any(|k| key.starts_with(k)) {
                batch = batch.put(space::CONF, key, value.to_string());
                count += 1;
            }
        }
        self.store.write(batch).map_err(fault)?;
        tracing::info!("took over {count} definitions from {}", database.display());
        Ok(())
    }
}
