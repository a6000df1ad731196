//! Which files of a folder are to be read: newer ones than those read before.

use std::collections::{BTreeMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// What was read so far, and what was seen at the last look.
#[derive(Default)]
pub struct Folder {
    /// Newest modification time of a file read, Unix nanoseconds.
    newest: i128,
    /// Files of that very time that were read.
    at_newest: HashSet<PathBuf>,
    /// Size and time of files at the last look: a file still growing is left for the next look.
    seen: BTreeMap<PathBuf, (u64, i128)>,
}

/// A file to read, by the time of its change.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    pub changed: i128,
    pub path: PathBuf,
}

impl Folder {
    /// Continues after the time (Unix milliseconds) of the newest file read by an earlier run.
    pub fn after(newest_ms: i64) -> Self {
        let newest = i128::from(newest_ms) * 1_000_000 + 999_999;
        Folder { newest, ..Folder::default() }
    }

    /// Files to read now, oldest first; sub-folders are left alone. With `settled`, only files
    /// that have not changed since the last look.
    pub fn look(&mut self, folder: &Path, settled: bool) -> io::Result<Vec<Found>> {
        let mut found = Vec::new();
        let mut seen = BTreeMap::new();
        for entry in std::fs::read_dir(folder)? {
            let entry = entry?;
            // a file may vanish between the listing and the look
            let Ok(about) = std::fs::metadata(entry.path()) else { continue };
            if !about.is_file() {
                continue;
            }
            let (path, changed) = (entry.path(), nanos(about.modified()?));
            if changed < self.newest || (changed == self.newest && self.at_newest.contains(&path)) {
                continue;
            }
            let now = (about.len(), changed);
            let ready = !settled || self.seen.get(&path) == Some(&now);
            seen.insert(path.clone(), now);
            if ready {
                found.push(Found { changed, path });
            }
        }
        self.seen = seen;
        found.sort();
        Ok(found)
    }

    /// The file was read.
    pub fn done(&mut self, found: Found) {
        if found.changed > self.newest {
            self.newest = found.changed;
            self.at_newest.clear();
        }
        self.at_newest.insert(found.path);
    }
}

fn nanos(time: SystemTime) -> i128 {
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => since.as_nanos() as i128,
        Err(before) => -(before.duration().as_nanos() as i128),
    }
}
