//! `stream.log`, a link to the newest of the files that hold the log; the same for logs of rules.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::now::now;
use crate::config::Log as Settings;

const HOUR: Duration = Duration::from_secs(3600);

pub struct RollingFile {
    folder: PathBuf,
    names: Names,
    current: Option<(File, u64, Instant)>,
    max_time: Option<Duration>,
    max_size: u64,
    max_age: Option<Duration>,
    max_count: usize,
}

/// What the link is called, and its files around the time.
struct Names {
    link: String,
    before: String,
    stamp: &'static str,
    after: &'static str,
}

impl RollingFile {
    /// The log of the server.
    pub fn new(s: &Settings, folder: &Path) -> RollingFile {
        let names = Names {
            link: "stream.log".into(),
            before: "stream.".into(),
            stamp: "%Y-%m-%dT%H-%M-%S",
            after: ".log",
        };
        RollingFile::named(s, folder, names)
    }

    /// The log of a rule.
    pub fn of_rule(s: &Settings, folder: &Path, name: &str) -> RollingFile {
        let (link, before) = (name.to_owned(), format!("{name}."));
        let names = Names { link, before, stamp: "%Y-%m-%d_%H-%M-%S", after: "" };
        RollingFile::named(s, folder, names)
    }

    fn named(s: &Settings, folder: &Path, names: Names) -> RollingFile {
        let hours = |n: u64| (n > 0).then(|| HOUR.saturating_mul(n.min(1 << 20) as u32));
        RollingFile {
            folder: folder.to_owned(),
            names,
            current: None,
            max_time: hours(s.rotate_hours),
            max_size: s.rotate_size,
            max_age: if s.rotate_count > 0 {
                None
            } else {
                hours(s.max_age_hours)
            },
            max_count: s.rotate_count,
        }
    }

    pub fn write(&mut self, line: &str) -> io::Result<()> {
        let length = line.len() as u64;
        if self.current.as_ref().is_none_or(|(_, size, since)| {
            let full = self.max_size > 0 && *size > 0 && size + length > self.max_size;
            full || self.max_time.is_some_and(|t| since.elapsed() >= t)
        }) {
            self.open()?;
        }
        let Some((file, size, _)) = &mut self.current else {
            return Ok(());
        };
        file.write_all(line.as_bytes())?;
        *size += length;
        Ok(())
    }

    /// Begins a new file and lets the link lead to it.
    fn open(&mut self) -> io::Result<()> {
        let Names { before, stamp, after, .. } = &self.names;
        let base = format!("{before}{}{after}", now(stamp));
        let names = std::iter::once(base.clone()).chain((1..10_000).map(|n| format!("{base}.{n}")));
        for name in names {
            match OpenOptions::new()
                .create_new(true)
                .append(true)
                .open(self.folder.join(&name))
            {
                Ok(file) => {
                    self.current = Some((file, 0, Instant::now()));
                    self.link(&name);
                    self.clean();
                    return Ok(());
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => return Err(e),
            }
        }
        Err(io::Error::other("no name is free for a new log file"))
    }

    fn link(&self, name: &str) {
        let (link, new) = (
            self.folder.join(&self.names.link),
            self.folder.join(format!("{}.new", self.names.link)),
        );
        let _ = std::fs::remove_file(&new);
        #[cfg(unix)]
        if std::os::unix::fs::symlink(name, &new).is_ok() {
            let _ = std::fs::rename(new, link);
        }
    }

    /// Deletes what is too old or too many.
    fn clean(&self) {
        let entries = std::fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten();
        let Names { before, after, .. } = &self.names;
        let ours = |name: &str| {
            let rest = name.strip_prefix(before.as_str());
            rest.is_some_and(|rest| rest.starts_with('2') && rest.contains(after))
        };
        let mut files: Vec<(SystemTime, PathBuf)> = entries
            .filter(|e| e.file_name().to_str().is_some_and(ours))
            .filter_map(|e| Some((e.metadata().ok()?.modified().ok()?, e.path())))
            .collect();
        files.sort();
        let too_many = match self.max_count {
            0 => 0,
            most => files.len().saturating_sub(most),
        };
        for (i, (modified, path)) in files.iter().enumerate() {
            let age = modified.elapsed().unwrap_or_default();
            if i < too_many || self.max_age.is_some_and(|max| age > max) {
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_file_is_followed_by_a_new_one_and_the_oldest_go() {
        let dir = std::env::temp_dir().join(format!("rekuiper-log-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let settings = Settings {
            level: "info".into(),
            debug: false,
            console: false,
            file: true,
            no_timestamp: false,
            rotate_hours: 24,
            max_age_hours: 72,
            rotate_size: 30,
            rotate_count: 3,
            syslog: Default::default(),
        };
        let mut log = RollingFile::new(&settings, &dir);
        for n in 0..10 {
            log.write(&format!("a line of the log {n}\n")).unwrap();
        }
        let count = std::fs::read_dir(&dir).unwrap().count();
        assert_eq!(count, 4, "three files and the link");
        let newest = std::fs::read_to_string(dir.join("stream.log")).unwrap();
        assert_eq!(newest, "a line of the log 9\n");
        std::fs::remove_dir_all(dir).unwrap();
    }
}
