//! The thread that owns the connection.

use std::path::Path;
use std::sync::mpsc::Receiver;

use rusqlite::{Connection, OptionalExtension, params};

use crate::{Answer, Batch, Durability, Op, StoreError};

/// The form of the tables; a file of a newer form is refused rather than misread.
const FORM: i64 = 1;
/// Batches that share one transaction at most.
const TOGETHER: usize = 256;

pub(crate) enum Job {
    Write(Batch, Answer<()>),
    Get(String, String, Answer<Option<Vec<u8>>>),
    Scan(String, Answer<Vec<(String, Vec<u8>)>>),
}

pub(crate) fn open(path: &Path, durability: Durability) -> Result<Connection, StoreError> {
    let fault = |reason: String| StoreError::Open {
        path: path.display().to_string(),
        reason,
    };
    let db = Connection::open(path).map_err(|e| fault(e.to_string()))?;
    db.busy_timeout(std::time::Duration::from_secs(5))
        .map_err(|e| fault(e.to_string()))?;
    let flush = match durability {
        Durability::Process => "NORMAL",
        Durability::Power => "FULL",
    };
    let setup = format!(
        "PRAGMA journal_mode=WAL; PRAGMA synchronous={flush}; PRAGMA cache_size=-512;
         PRAGMA wal_autocheckpoint=256;
         CREATE TABLE IF NOT EXISTS kv (
             space TEXT NOT NULL, key TEXT NOT NULL, value BLOB NOT NULL,
             PRIMARY KEY (space, key)) WITHOUT ROWID;"
    );
    db.execute_batch(&setup).map_err(|e| fault(e.to_string()))?;
    let form: i64 = db
        .query_row("PRAGMA user_version", [], |r| r.get(0))
        .map_err(|e| fault(e.to_string()))?;
    match form {
        0 => db
            .pragma_update(None, "user_version", FORM)
            .map_err(|e| fault(e.to_string()))?,
        FORM => {}
        newer => {
            let reason = format!("it was written by a newer version (form {newer}, known {FORM})");
            return Err(fault(reason));
        }
    }
    Ok(db)
}

pub(crate) fn run(mut db: Connection, jobs: Receiver<Job>) {
    let mut writes = Vec::new();
    while let Ok(job) = jobs.recv() {
        let mut next = Some(job);
        while let Some(job) = next.take() {
            match job {
                Job::Write(batch, done) => {
                    writes.push((batch, done));
                    if writes.len() < TOGETHER {
                        next = jobs.try_recv().ok();
                    }
                }
                read => {
                    // A read sees every write that was sent before it.
                    flush(&mut db, &mut writes);
                    answer_read(&db, read);
                    next = jobs.try_recv().ok();
                }
            }
        }
        flush(&mut db, &mut writes);
    }
    let _ = db.execute_batch("PRAGMA optimize; PRAGMA wal_checkpoint(TRUNCATE);");
}

fn answer_read(db: &Connection, job: Job) {
    match job {
        Job::Get(space, key, done) => done(get(db, &space, &key)),
        Job::Scan(space, done) => done(scan(db, &space)),
        Job::Write(..) => {}
    }
}

fn flush(db: &mut Connection, writes: &mut Vec<(Batch, Answer<()>)>) {
    if writes.is_empty() {
        return;
    }
    if apply(db, writes.iter().map(|(b, _)| b)).is_ok() {
        for (_, done) in writes.drain(..) {
            done(Ok(()));
        }
        return;
    }
    for (batch, done) in writes.drain(..) {
        done(apply(db, std::iter::once(&batch)));
    }
}

fn apply<'a>(
    db: &mut Connection,
    batches: impl Iterator<Item = &'a Batch>,
) -> Result<(), StoreError> {
    let tx = db.transaction()?;
    {
        let mut put = tx.prepare_cached("INSERT OR REPLACE INTO kv VALUES (?1, ?2, ?3)")?;
        let mut delete = tx.prepare_cached("DELETE FROM kv WHERE space = ?1 AND key = ?2")?;
        let mut clear = tx.prepare_cached("DELETE FROM kv WHERE space = ?1")?;
        for op in batches.flat_map(|b| &b.ops) {
            match op {
                Op::Put { space, key, value } => put.execute(params![space, key, value])?,
                Op::Delete { space, key } => delete.execute(params![space, key])?,
                Op::Clear { space } => clear.execute(params![space])?,
            };
        }
    }
    tx.commit()?;
    Ok(())
}

fn get(db: &Connection, space: &str, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
    let mut q = db.prepare_cached("SELECT value FROM kv WHERE space = ?1 AND key = ?2")?;
    Ok(q.query_row(params![space, key], |r| r.get(0)).optional()?)
}

fn scan(db: &Connection, space: &str) -> Result<Vec<(String, Vec<u8>)>, StoreError> {
    let mut q = db.prepare_cached("SELECT key, value FROM kv WHERE space = ?1 ORDER BY key")?;
    let rows = q.query_map(params![space], |r| Ok((r.get(0)?, r.get(1)?)))?;
    rows.map(|r| r.map_err(StoreError::from)).collect()
}
