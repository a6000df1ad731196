//! The file source: one file, or the files of a folder, once or again and again.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use rekuiper_formats::codec::Compression;
use rekuiper_rt::limits::BATCH_MESSAGES_MAX;
use rekuiper_value::batch::{Msg, MsgMeta, Payloads, RawBatch, SourceRow};
use rekuiper_value::{Object, Str, Value};

use super::csv::{CsvReader, Layout};
use super::folder::Folder;
use super::lines::LineReader;
use super::whole;
use crate::traits::{BoxFuture, Opened, Source, SourceCx, SourceOut, Stopped, next_tick};
use crate::{ConnectError, Props, Services};

/// How often a watched folder is looked at, in milliseconds.
const LOOK_MS: i64 = 500;

pub fn open(datasource: &str, props: &Props) -> Result<Opened, ConnectError> {
    let conf = Conf::read(datasource, props)?;
    if conf.path.is_absolute() {
        conf.must_exist(&conf.path)?;
    }
    Ok(Opened::Source(Box::new(FileSource { conf })))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileType {
    Json,
    Lines,
    Csv,
    /// Any other word: the file is one message.
    Whole,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum AfterRead {
    Keep,
    Delete,
    Move(PathBuf),
}

#[derive(Debug)]
struct Conf {
    /// Relative ones start at the base folder.
    path: PathBuf,
    file_type: FileType,
    interval_ms: i64,
    send_interval_ms: i64,
    after: AfterRead,
    layout: Layout,
    skip_start: usize,
    skip_end: usize,
    packed: Option<Compression>,
    format_is_json: bool,
}

impl Conf {
    fn read(datasource: &str, props: &Props) -> Result<Conf, ConnectError> {
        let word = props.str_or("fileType", "json")?;
        let file_type = match word {
            "json" => FileType::Json,
            "lines" => FileType::Lines,
            "csv" => FileType::Csv,
            "parquet" => {
                return Err(ConnectError::config(
                    "fileType parquet cannot be read yet; turn the file into csv or lines",
                ));
            }
            _ => FileType::Whole,
        };
        let packed = match props.str_or("decompression", "")? {
            "" => None,
            _ if matches!(file_type, FileType::Lines | FileType::Csv) => {
                return Err(ConnectError::config(format!(
                    "decompression is not supported for {word} file type"
                )));
            }
            name => Some(
                Compression::by_name(name).map_err(|e| ConnectError::config(e.to_string()))?,
            ),
        };
        let folder = PathBuf::from(props.str_or("path", "data")?);
        Ok(Conf {
            path: if datasource.is_empty() { folder } else { folder.join(datasource) },
            file_type,
            interval_ms: props.millis("interval", 0)?.max(0),
            send_interval_ms: props.millis("sendInterval", 0)?.max(0),
            after: after_read(props)?,
            layout: Layout {
                delimiter: *props.str_or("delimiter", ",")?.as_bytes().first().unwrap_or(&b','),
                header: props.bool("hasHeader", false)?,
                columns: props.list("columns")?.into_iter().map(Str::from).collect(),
            },
            skip_start: props.int("ignoreStartLines", 0)?.max(0) as usize,
            skip_end: props.int("ignoreEndLines", 0)?.max(0) as usize,
            packed,
            format_is_json: props.str_or("format", "json")?.eq_ignore_ascii_case("json"),
        })
    }

    fn must_exist(&self, path: &Path) -> Result<(), ConnectError> {
        match std::fs::metadata(path) {
            Ok(_) => Ok(()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Err(ConnectError::config(format!(
                "file {} not exist; path and DATASOURCE name it",
                path.display()
            ))),
            Err(e) => Err(ConnectError::config(format!("file {}: {e}", path.display()))),
        }
    }
}

fn after_read(props: &Props) -> Result<AfterRead, ConnectError> {
    match props.int("actionAfterRead", 0)? {
        0 => Ok(AfterRead::Keep),
        1 => Ok(AfterRead::Delete),
        2 => {
            let to = props.required("moveTo", "file source with actionAfterRead 2")?;
            Ok(AfterRead::Move(to.into()))
        }
        other => Err(ConnectError::config(format!(
            "actionAfterRead must be 0 (keep), 1 (delete) or 2 (move), found {other}"
        ))),
    }
}

struct FileSource {
    conf: Conf,
}

/// Why reading a file ended early.
enum Ended {
    Stopped,
    Failed(String),
}

impl From<Stopped> for Ended {
    fn from(_: Stopped) -> Self {
        Ended::Stopped
    }
}

impl Source for FileSource {
    fn check(&self, services: &Services) -> Result<(), ConnectError> {
        self.conf.must_exist(&services.path(&self.conf.path))
    }

    fn follows(&self) -> &'static [&'static str] {
        &["interval", "sendInterval", "decompression"]
    }

    fn gives_rows(&self) -> bool {
        self.conf.file_type == FileType::Csv
    }

    fn run<'a>(
        self: Box<Self>,
        cx: SourceCx,
        out: SourceOut,
    ) -> BoxFuture<'a, Result<(), ConnectError>> {
        let mut conf = self.conf;
        conf.path = std::path::absolute(cx.services.path(&conf.path)).unwrap_or(conf.path);
        if let AfterRead::Move(to) = &mut conf.after {
            *to = cx.services.path(&*to);
        }
        Box::pin(async move {
            cx.status.connected(cx.clock.now_ms());
            let run = Run { conf: Arc::new(conf), cx, out };
            let path = run.conf.path.clone();
            let is_folder = std::fs::metadata(&path).is_ok_and(|m| m.is_dir());
            let end = if is_folder { run.folder(&path).await } else { run.file(&path).await };
            match end {
                Ok(()) | Err(Ended::Stopped) => Ok(()),
                Err(Ended::Failed(text)) => Err(ConnectError::io(text)),
            }
        })
    }
}

struct Run {
    conf: Arc<Conf>,
    cx: SourceCx,
    out: SourceOut,
}

impl Run {
    /// Reads a file once, or every interval.
    async fn file(&self, path: &Path) -> Result<(), Ended> {
        let mut next = self.cx.clock.now_ms();
        loop {
            // what was deleted or moved after reading may come again or not
            let gone = self.conf.after != AfterRead::Keep && !path.exists();
            match if gone { Ok(()) } else { self.read(path).await } {
                Err(Ended::Failed(text)) if self.conf.interval_ms > 0 => {
                    self.out.error(text).await?
                }
                other => other?,
            }
            if self.conf.interval_ms == 0 {
                return Ok(());
            }
            next = next_tick(next, self.conf.interval_ms, self.cx.clock.now_ms());
            self.cx.clock.sleep_until(next).await;
        }
    }

    /// Reads what is new in a folder, for ever.
    async fn folder(&self, path: &Path) -> Result<(), Ended> {
        let mut folder = match &self.cx.offset {
            Some(Value::Int(newest_ms)) => Folder::after(*newest_ms),
            _ => Folder::default(),
        };
        let pause = if self.conf.interval_ms > 0 { self.conf.interval_ms } else { LOOK_MS };
        let mut settled = false;
        let mut next = self.cx.clock.now_ms();
        loop {
            match folder.look(path, settled) {
                Ok(files) => {
                    for found in files {
                        if let Err(Ended::Failed(text)) = self.read(&found.path).await {
                            self.out.error(text).await?;
                        }
                        folder.done(found);
                    }
                }
                Err(e) => self.out.error(format!("folder {}: {e}", path.display())).await?,
            }
            next = next_tick(next, pause, self.cx.clock.now_ms());
            self.cx.clock.sleep_until(next).await;
            settled = self.conf.interval_ms == 0;
        }
    }

    async fn read(&self, path: &Path) -> Result<(), Ended> {
        let failed = |e: io::Error| Ended::Failed(format!("file {}: {e}", path.display()));
        let file = File::open(path).map_err(failed)?;
        if file.metadata().is_ok_and(|m| m.len() == 0) {
            tracing::warn!(file = %path.display(), "the file is empty");
        }
        let meta = Object::from([(Str::from("file"), Value::str(path.to_string_lossy().as_ref()))]);
        let meta = Arc::new(meta);
        match self.conf.file_type {
            FileType::Lines => self.lines(file, &meta).await,
            FileType::Csv => self.csv(file, &meta).await,
            FileType::Json | FileType::Whole => self.whole(file, &meta).await,
        }
        .map_err(|e| match e {
            Ended::Failed(text) => Ended::Failed(format!("file {}: {text}", path.display())),
            stopped => stopped,
        })?;
        self.after(path).map_err(failed)
    }

    async fn lines(&self, file: File, meta: &Arc<Object>) -> Result<(), Ended> {
        let mut reader = LineReader::new(file, self.conf.skip_start, self.conf.skip_end);
        loop {
            let (back, block) = blocking(reader, LineReader::next).await?;
            reader = back;
            let Some(block) = block else { return Ok(()) };
            self.messages(block.bytes, block.lines, meta).await?;
        }
    }

    async fn csv(&self, file: File, meta: &Arc<Object>) -> Result<(), Ended> {
        let conf = &self.conf;
        let mut reader =
            CsvReader::new(file, conf.layout.clone(), conf.skip_start, conf.skip_end);
        loop {
            let (back, rows) = blocking(reader, CsvReader::next).await?;
            reader = back;
            let Some(rows) = rows else { return Ok(()) };
            for rows in rows.chunks(self.batch_max()) {
                let ts = self.cx.clock.now_ms();
                let row = |data: &Arc<Object>| SourceRow { data: data.clone(), meta: None, ts };
                self.send(Payloads::Rows(rows.iter().map(row).collect()), meta).await?;
            }
        }
    }

    async fn whole(&self, file: File, meta: &Arc<Object>) -> Result<(), Ended> {
        let packed = self.conf.packed;
        let (_, bytes) = blocking((), move |_| whole::read(file, packed)).await?;
        if bytes.is_empty() {
            return Ok(());
        }
        let one_by_one = self.conf.send_interval_ms > 0
            && self.conf.file_type == FileType::Json
            && self.conf.format_is_json;
        let parts = one_by_one.then(|| whole::elements(&bytes)).flatten();
        let parts = parts.unwrap_or_else(|| vec![(0, bytes.len())]);
        let span = |(from, to): (usize, usize)| Msg {
            payload: (from as u32, (to - from) as u32),
            meta: MsgMeta::default(),
        };
        self.messages(bytes.into(), parts.into_iter().map(span).collect(), meta).await
    }

    fn batch_max(&self) -> usize {
        if self.conf.send_interval_ms > 0 { 1 } else { BATCH_MESSAGES_MAX }
    }

    async fn messages(
        &self,
        bytes: Bytes,
        mut msgs: Vec<Msg>,
        meta: &Arc<Object>,
    ) -> Result<(), Ended> {
        if msgs.len() <= self.batch_max() {
            if !msgs.is_empty() {
                self.send(Payloads::Bytes { bytes, msgs }, meta).await?;
            }
            return Ok(());
        }
        let mut rest = msgs.drain(..);
        loop {
            let msgs: Vec<Msg> = rest.by_ref().take(self.batch_max()).collect();
            if msgs.is_empty() {
                return Ok(());
            }
            self.send(Payloads::Bytes { bytes: bytes.clone(), msgs }, meta).await?;
        }
    }

    async fn send(&self, payloads: Payloads, meta: &Arc<Object>) -> Result<(), Ended> {
        let ts = self.cx.clock.now_ms();
        self.out.send(RawBatch { payloads, meta: Some(meta.clone()), ts, ack: None }).await?;
        if self.conf.send_interval_ms > 0 {
            self.cx.clock.sleep_ms(self.conf.send_interval_ms).await;
        }
        Ok(())
    }

    fn after(&self, path: &Path) -> io::Result<()> {
        match &self.conf.after {
            AfterRead::Keep => Ok(()),
            AfterRead::Delete => std::fs::remove_file(path),
            AfterRead::Move(to) => {
                std::fs::create_dir_all(to)?;
                let Some(name) = path.file_name() else { return Ok(()) };
                let target = to.join(name);
                // another file system refuses a rename
                std::fs::rename(path, &target).or_else(|_| {
                    std::fs::copy(path, &target).and_then(|_| std::fs::remove_file(path))
                })
            }
        }
    }
}

/// Runs a piece of reading where it may block.
async fn blocking<S: Send + 'static, T: Send + 'static>(
    mut state: S,
    work: impl FnOnce(&mut S) -> io::Result<T> + Send + 'static,
) -> Result<(S, T), Ended> {
    let work = tokio::task::spawn_blocking(move || {
        let done = work(&mut state);
        (state, done)
    });
    match work.await {
        Ok((state, Ok(value))) => Ok((state, value)),
        Ok((_, Err(e))) => Err(Ended::Failed(e.to_string())),
        Err(_) => Err(Ended::Failed("reading was broken off".to_string())),
    }
}
