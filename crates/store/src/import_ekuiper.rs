//! Reads the data folder of a stopped eKuiper server. The folder is not touched: the database is
//! copied first, because SQLite may write beside a file even when it only reads it.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use serde_json::Value;

use crate::StoreError;
use crate::gob;

/// One entry of the foreign store.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// Its table: `stream`, `rule`, `confKVStorage`, `schema`, …
    pub table: String,
    pub key: String,
    pub value: Value,
}

/// What was read, and what could not be.
#[derive(Debug, Default)]
pub struct Contents {
    pub entries: Vec<Entry>,
    pub unreadable: Vec<(String, String, String)>,
}

impl Contents {
    /// The entries of a table, by key.
    pub fn of<'a>(&'a self, table: &'a str) -> impl Iterator<Item = (&'a str, &'a Value)> {
        self.entries
            .iter()
            .filter(move |e| e.table == table)
            .map(|e| (e.key.as_str(), &e.value))
    }
}

/// Reads `database` (sqliteKV.db); `scratch` is a folder of ours for the copy.
pub fn read(database: &Path, scratch: &Path) -> Result<Contents, StoreError> {
    let fault = |reason: String| StoreError::Foreign {
        path: database.display().to_string(),
        reason,
    };
    let copy = scratch.join(format!("import-{}.db", std::process::id()));
    let result = copy_all(database, &copy)
        .map_err(|e| fault(e.to_string()))
        .and_then(|()| read_copy(&copy).map_err(|e| fault(e.to_string())));
    for file in beside(&copy) {
        let _ = fs::remove_file(file);
    }
    result
}

/// The database and what SQLite keeps beside it.
fn beside(path: &Path) -> [PathBuf; 3] {
    let with = |suffix: &str| {
        let mut name = path.as_os_str().to_owned();
        name.push(suffix);
        PathBuf::from(name)
    };
    [path.to_path_buf(), with("-wal"), with("-shm")]
}

fn copy_all(from: &Path, to: &Path) -> std::io::Result<()> {
    let [db, wal, _] = beside(from);
    let [db_copy, wal_copy, _] = beside(to);
    // Read and write rather than copy: the copy must not inherit a read-only mode.
    fs::write(db_copy, fs::read(db)?)?;
    if wal.exists() {
        fs::write(wal_copy, fs::read(wal)?)?;
    }
    Ok(())
}

fn read_copy(path: &Path) -> rusqlite::Result<Contents> {
    let db = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    let tables: Vec<String> = db
        .prepare("SELECT name FROM sqlite_master WHERE type = 'table'")?
        .query_map([], |r| r.get(0))?
        .collect::<Result<_, _>>()?;
    let mut out = Contents::default();
    for table in tables {
        let quoted = table.replace('"', "\"\"");
        let Ok(mut q) = db.prepare(&format!("SELECT key, val FROM \"{quoted}\" ORDER BY key"))
        else {
            continue;
        };
        let mut rows = q.query([])?;
        while let Some(row) = rows.next()? {
            let key: String = row.get(0)?;
            let data: Vec<u8> = row.get(1)?;
            match gob::decode(&data) {
                Ok(value) => out.entries.push(Entry {
                    table: table.clone(),
                    key,
                    value,
                }),
                Err(why) => out.unreadable.push((table.clone(), key, why)),
            }
        }
    }
    Ok(out)
}
