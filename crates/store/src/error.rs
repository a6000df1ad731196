//! What can go wrong, and whose fault it is.

use thiserror::Error;

#[derive(Debug, Clone, Error)]
pub enum StoreError {
    #[error("the store cannot be opened at {path}: {reason}; check that the folder is writable")]
    Open { path: String, reason: String },
    #[error(
        "the store could not do this: {0}; check disk space and permissions of the data folder"
    )]
    Sqlite(String),
    #[error("the store is closed")]
    Closed,
    #[error("no thread for the store: {0}")]
    Thread(String),
    #[error("{path} is not a store this server can read: {reason}")]
    Foreign { path: String, reason: String },
}

impl From<rusqlite::Error> for StoreError {
    fn from(e: rusqlite::Error) -> Self {
        StoreError::Sqlite(e.to_string())
    }
}
