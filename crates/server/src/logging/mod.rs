//! The log: lines as the original writes them, to the console and to files that are changed by
//! age and size. Level and targets can be changed while the server runs.

mod file;
mod line;
mod now;
pub mod rules;
mod syslog;

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tracing::level_filters::LevelFilter;
use tracing::subscriber::Interest;
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};

use crate::config::Log as Settings;
use file::RollingFile;
use syslog::Syslog;

/// Most logs of rules that are open at once.
const RULE_LOGS_MAX: usize = 256;

/// Handle on the log; clones share it.
#[derive(Clone)]
pub struct Log {
    inner: Arc<Inner>,
}

struct Inner {
    /// 1 error, 2 warn, 3 info, 4 debug, 5 trace.
    level: AtomicU8,
    debug: AtomicBool,
    console: AtomicBool,
    file: AtomicBool,
    timestamp: bool,
    rolling: Mutex<RollingFile>,
    settings: Settings,
    folder: PathBuf,
    /// Logs of rules by their names, opened with the first line.
    of_rules: Mutex<HashMap<String, RollingFile>>,
    /// The least severe level that goes to the syslog daemon, and the way there.
    syslog: Option<(u8, Mutex<Syslog>)>,
}

impl Log {
    pub fn new(settings: &Settings, folder: &Path) -> Log {
        let log = Log {
            inner: Arc::new(Inner {
                level: AtomicU8::new(3),
                debug: AtomicBool::new(settings.debug),
                console: AtomicBool::new(settings.console),
                file: AtomicBool::new(settings.file),
                timestamp: !settings.no_timestamp,
                rolling: Mutex::new(RollingFile::new(settings, folder)),
                settings: settings.clone(),
                folder: folder.to_owned(),
                of_rules: Mutex::default(),
                syslog: Syslog::new(&settings.syslog)
                    .map(|s| (rank_of(s.level()).unwrap_or(3), Mutex::new(s))),
            }),
        };
        log.set_level(&settings.level);
        log
    }

    /// Makes this the log of the process.
    pub fn install(&self) {
        let registry = tracing_subscriber::registry().with(self.clone());
        let _ = tracing::subscriber::set_global_default(registry);
    }

    /// An unknown word leaves the level as it is.
    pub fn set_level(&self, word: &str) {
        if let Some(level) = rank_of(word) {
            self.inner.level.store(level, Ordering::Relaxed);
        }
    }

    pub fn set_debug(&self, on: bool) {
        self.inner.debug.store(on, Ordering::Relaxed);
    }

    pub fn set_console(&self, on: bool) {
        self.inner.console.store(on, Ordering::Relaxed);
    }

    pub fn set_file(&self, on: bool) {
        self.inner.file.store(on, Ordering::Relaxed);
    }

    fn lets(&self, level: &Level) -> bool {
        let rank = rank(level);
        let most = if self.inner.debug.load(Ordering::Relaxed) {
            4
        } else {
            0
        };
        rank <= self.inner.level.load(Ordering::Relaxed).max(most)
    }

    fn write_of_rule(&self, name: String, line: &str) {
        let mut all = self.inner.of_rules.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= RULE_LOGS_MAX && !all.contains_key(&name) {
            all.clear(); // the files are opened anew when they are needed
        }
        let (settings, folder) = (&self.inner.settings, &self.inner.folder);
        let open = |name: &String| RollingFile::of_rule(settings, folder, name);
        let file = all.entry(name).or_insert_with_key(open);
        if let Err(e) = file.write(line) {
            let _ = writeln!(std::io::stderr(), "the log of a rule cannot be written: {e}");
        }
    }

    fn write(&self, level: &Level, line: &str) {
        if let Some((most, syslog)) = &self.inner.syslog
            && rank(level) <= *most
        {
            let sent = syslog.lock().unwrap_or_else(PoisonError::into_inner).write(level, line);
            if let Err(e) = sent {
                let _ = writeln!(std::io::stderr(), "syslog cannot be reached: {e}");
            }
        }
        if self.inner.console.load(Ordering::Relaxed) {
            let _ = std::io::stdout().lock().write_all(line.as_bytes());
        }
        if self.inner.file.load(Ordering::Relaxed) {
            let mut rolling = self
                .inner
                .rolling
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if let Err(e) = rolling.write(line) {
                let _ = writeln!(std::io::stderr(), "the log cannot be written: {e}");
            }
        }
    }
}

fn rank(level: &Level) -> u8 {
    match *level {
        Level::ERROR => 1,
        Level::WARN => 2,
        Level::INFO => 3,
        Level::DEBUG => 4,
        Level::TRACE => 5,
    }
}

fn rank_of(word: &str) -> Option<u8> {
    match word {
        "debug" => Some(4),
        "info" => Some(3),
        "warn" | "warning" => Some(2),
        "error" | "fatal" | "panic" => Some(1),
        _ => None,
    }
}

impl<S: Subscriber> Layer<S> for Log {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        // The level may change at any time.
        Interest::sometimes()
    }

    fn enabled(&self, metadata: &Metadata<'_>, _: Context<'_, S>) -> bool {
        // What other libraries say of themselves is for debugging them.
        let own = metadata.target().starts_with("rekuiper") || metadata.target() == "kuiperd";
        self.lets(metadata.level()) && (own || *metadata.level() <= Level::WARN)
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::DEBUG)
    }

    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let (line, rule) = line::format(event, self.inner.timestamp);
        match rule.and_then(|rule| rules::of(&rule)) {
            Some(name) => self.write_of_rule(name, &line),
            None => self.write(event.metadata().level(), &line),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_may_have_a_log_of_its_own() {
        let dir = std::env::temp_dir().join(format!("rekuiper-rule-log-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let settings = Settings {
            level: "info".into(),
            debug: false,
            console: false,
            file: true,
            no_timestamp: true,
            rotate_hours: 24,
            max_age_hours: 72,
            rotate_size: 1 << 20,
            rotate_count: 3,
            syslog: Default::default(),
        };
        let log = Log::new(&settings, &dir);
        let read = |name: &str| std::fs::read_to_string(dir.join(name)).unwrap_or_default();
        rules::set("of-its-own", "../somewhere/own.log");
        tracing::subscriber::with_default(tracing_subscriber::registry().with(log), || {
            tracing::info!(rule = "of-its-own", "one");
            tracing::info!(rule = "of-another", "two");
            rules::set("of-its-own", "");
            tracing::info!(rule = "of-its-own", "three");
            rules::set("of-its-own", "stream.log");
            tracing::info!(rule = "of-its-own", "four");
        });
        assert!(read("own.log").starts_with("level=info msg=one rule=of-its-own"));
        assert_eq!(read("own.log").lines().count(), 1);
        let server = read("stream.log");
        for word in ["two", "three", "four"] {
            assert!(server.contains(&format!("msg={word} ")), "{server}");
        }
        assert!(!server.contains("msg=one"));
        std::fs::remove_dir_all(dir).unwrap();
    }
}
