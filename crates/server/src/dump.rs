//! Metrics written to files every few seconds, kept for some hours, fetched as a zip.

use std::io::{Cursor, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use zip::write::SimpleFileOptions;

use crate::App;
use crate::prometheus;

const EVERY: Duration = Duration::from_secs(15);
/// One file holds so many seconds.
const FILE_SECONDS: i64 = 600;

pub struct Dump {
    on: AtomicBool,
    folder: PathBuf,
    retained_seconds: i64,
}

impl Dump {
    pub fn new(on: bool, folder: PathBuf, retained_ms: i64) -> Dump {
        Dump {
            on: AtomicBool::new(on),
            folder,
            retained_seconds: retained_ms / 1000,
        }
    }

    pub fn enabled(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    pub fn set_enabled(&self, on: bool) {
        self.on.store(on, Ordering::Relaxed);
    }

    /// Writes for ever, while it is switched on.
    pub async fn run(app: Arc<App>) {
        loop {
            tokio::time::sleep(EVERY).await;
            if !app.dump.enabled() {
                continue;
            }
            let text = prometheus::text(&app);
            if let Err(e) = app.dump.write(&text, Timestamp::now().as_second()) {
                tracing::warn!("metrics cannot be dumped: {e}");
            }
        }
    }

    fn write(&self, text: &str, now: i64) -> std::io::Result<()> {
        std::fs::create_dir_all(&self.folder)?;
        let name = format!("metrics.{}.log", now - now % FILE_SECONDS);
        let mut file = std::fs::OpenOptions::new()
            .create(true)
            .append(true)
            .open(self.folder.join(name))?;
        file.write_all(format!("# TIME {now}\n{text}").as_bytes())?;
        for (start, path) in self.files() {
            if start + FILE_SECONDS >= now - self.retained_seconds {
                continue;
            }
            // one that stays is no reason to keep the others
            if let Err(e) = std::fs::remove_file(&path) {
                tracing::warn!("old metrics {} cannot be removed: {e}", path.display());
            }
        }
        Ok(())
    }

    /// Files by the second they begin at.
    fn files(&self) -> Vec<(i64, PathBuf)> {
        let entries = std::fs::read_dir(&self.folder)
            .into_iter()
            .flatten()
            .flatten();
        let start = |p: PathBuf| {
            let name = p.file_name()?.to_str()?;
            let start = name
                .strip_prefix("metrics.")?
                .strip_suffix(".log")?
                .parse()
                .ok()?;
            Some((start, p))
        };
        entries.filter_map(|e| start(e.path())).collect()
    }

    /// What was written between two seconds.
    pub fn zip(&self, from: i64, to: i64) -> Result<Vec<u8>, String> {
        let mut files = self.files();
        files.retain(|(start, _)| *start <= to && start + FILE_SECONDS > from);
        files.sort();
        if files.is_empty() {
            return Err(format!("no metrics were collected between {from} and {to}"));
        }
        let fault = |e: &dyn std::fmt::Display| format!("metrics cannot be packed: {e}");
        let mut out = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (_, path) in files {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let content = std::fs::read(&path).map_err(|e| fault(&e))?;
            out.start_file(name, SimpleFileOptions::default())
                .map_err(|e| fault(&e))?;
            out.write_all(&content).map_err(|e| fault(&e))?;
        }
        Ok(out.finish().map_err(|e| fault(&e))?.into_inner())
    }
}
