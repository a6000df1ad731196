//! The sink: payloads as lines, as a JSON list or as CSV, in one file or in the files that a
//! templated path names.
//!
//! Batches go straight from the encoder's buffer into the file with one write; small ones are
//! gathered until the sink's queue is empty, so a file is never further behind than that. A write
//! that fails half-way is cut off again, so that the retry does not double anything.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::rolling::{Rolling, roll_name};
use super::stream::{OutFile, StreamCodec};
use crate::traits::{BoxFuture, Opened, Service, Sink, SinkBatch, SinkCx, SinkData};
use crate::{ConnectError, Props};

/// Most files open at once (templated paths); the longest open one is closed for another.
const OPEN_FILES_MAX: usize = 256;
/// Small writes are gathered up to this.
const GATHER_BYTES: usize = 64 << 10;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileType {
    Lines,
    Json,
    Csv,
}

pub fn open(props: &Props) -> Result<Opened, ConnectError> {
    let path = props.str_or("path", "cache")?.to_owned();
    let file_type = match props.str_or("fileType", "lines")? {
        "lines" => FileType::Lines,
        "json" => FileType::Json,
        "csv" => FileType::Csv,
        other => {
            return Err(ConnectError::config(format!(
                "fileType must be lines, json or csv, found {other}"
            )));
        }
    };
    if file_type == FileType::Csv && props.str_or("format", "json")? != "delimited" {
        return Err(ConnectError::config("fileType csv must work with format delimited"));
    }
    Ok(Opened::Sink(Box::new(FileSink {
        template: path.contains("{{"),
        path,
        file_type,
        has_header: props.bool("hasHeader", false)?,
        rolling: Rolling::new(props)?,
        codec: StreamCodec::new(props)?,
        base: PathBuf::new(),
        files: HashMap::new(),
        opened: 0,
        now_ms: 0,
        clock: None,
    })))
}

/// An open file.
struct Out {
    file: OutFile,
    path: PathBuf,
    /// Payloads in it.
    count: u64,
    bytes: u64,
    since_ms: i64,
    /// Order of opening.
    number: u64,
    gathered: Vec<u8>,
}

struct FileSink {
    path: String,
    template: bool,
    file_type: FileType,
    has_header: bool,
    rolling: Rolling,
    codec: StreamCodec,
    base: PathBuf,
    files: HashMap<PathBuf, Out>,
    opened: u64,
    now_ms: i64,
    clock: Option<rekuiper_rt::Clock>,
}

fn io(path: &Path, what: &str, e: &std::io::Error) -> ConnectError {
    ConnectError::io(format!("cannot {what} {}: {e}", path.display()))
}

impl FileSink {
    /// The file for a path, opened (and emptied) when it is new.
    fn out(&mut self, path: PathBuf) -> Result<&mut Out, ConnectError> {
        if !self.files.contains_key(&path) {
            if self.files.len() >= OPEN_FILES_MAX
                && let Some(oldest) =
                    self.files.values().min_by_key(|o| o.number).map(|o| o.path.clone())
            {
                self.close_file(&oldest)?;
            }
            if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
                std::fs::create_dir_all(parent).map_err(|e| io(parent, "create folder", &e))?;
            }
            let file = OpenOptions::new().write(true).create(true).truncate(true).open(&path);
            let file = file.map_err(|e| io(&path, "open", &e))?;
            self.opened += 1;
            let out = Out {
                file: self.codec.wrap(file).map_err(|e| io(&path, "open", &e))?,
                path: path.clone(),
                count: 0,
                bytes: 0,
                since_ms: self.now_ms,
                number: self.opened,
                gathered: Vec::new(),
            };
            self.files.insert(path.clone(), out);
        }
        self.files.get_mut(&path).ok_or_else(|| ConnectError::io("file vanished from the list"))
    }

    fn close_file(&mut self, path: &Path) -> Result<(), ConnectError> {
        let Some(mut out) = self.files.remove(path) else { return Ok(()) };
        if self.file_type == FileType::Json && out.count > 0 {
            out.gathered.push(b']');
        }
        out.flush()?;
        out.file.finish().map_err(|e| io(path, "close", &e))?;
        if let Some(name) = roll_name(path, self.rolling.pattern, out.since_ms) {
            // the live file keeps its name; what is closed gets the stamp
            std::fs::rename(path, &name).map_err(|e| io(&name, "rename to", &e))?;
        }
        Ok(())
    }

    fn roll_due(&self, path: &Path) -> bool {
        self.files
            .get(path)
            .is_some_and(|o| self.rolling.due(o.count, o.bytes, o.since_ms, self.now_ms))
    }

    fn path_of(&self, batch: &SinkBatch, i: usize) -> Result<PathBuf, ConnectError> {
        if !self.template {
            return Ok(self.base.join(&self.path));
        }
        match batch.prop(i, 0) {
            Some(path) if !path.is_empty() => Ok(self.base.join(path.as_str())),
            _ => Err(ConnectError::data("the path template gave an empty path").after(i)),
        }
    }

    fn write_now(&mut self, batch: &SinkBatch, from: usize) -> Result<(), ConnectError> {
        if let Some(clock) = &self.clock {
            self.now_ms = clock.now_ms();
        }
        let n = batch.len();
        let mut at = from;
        while at < n {
            let path = self.path_of(batch, at)?;
            if self.roll_due(&path) {
                self.close_file(&path).map_err(|e| e.after(at - from))?;
            }
            let mut end = at + 1;
            let limit = self.rolling.room(self.files.get(&path).map_or(0, |o| o.count));
            while end < n && (end - at) < limit && !self.template {
                end += 1;
            }
            let (kind, header) = (self.file_type, self.has_header);
            let out = self.out(path).map_err(|e| e.after(at - from))?;
            out.put(batch, at, end, kind, header).map_err(|e| e.after(at - from))?;
            at = end;
        }
        Ok(())
    }
}

impl Out {
    /// Payloads `from..to` with what stands between them.
    fn put(
        &mut self,
        batch: &SinkBatch,
        from: usize,
        to: usize,
        kind: FileType,
        has_header: bool,
    ) -> Result<(), ConnectError> {
        let SinkData::Bytes { buf, ends, header, .. } = &batch.data else {
            return Err(ConnectError::data("the file sink takes encoded payloads, not rows"));
        };
        let (first, last) = (batch_start(ends, from), ends[to - 1] as usize);
        let fresh = self.count == 0;
        // what stands before the payloads goes out with them or not at all: a retry writes it again
        let mut lead = Vec::new();
        match (kind, fresh) {
            (FileType::Json, true) => lead.push(b'['),
            (FileType::Json, false) => lead.push(b','),
            (FileType::Csv, true) if has_header => {
                lead.extend_from_slice(header.as_deref().unwrap_or_default().as_bytes());
                lead.push(b'\n');
            }
            (_, true) => {}
            (_, false) => lead.push(b'\n'),
        }
        if kind != FileType::Json || to - from == 1 {
            // line feeds between the payloads are already in the buffer
            self.write(&lead, &buf[first..last])?;
        } else {
            let mut joined = Vec::with_capacity(last - first);
            for i in from..to {
                if i > from {
                    joined.push(b',');
                }
                joined.extend_from_slice(batch.payload(i));
            }
            self.write(&lead, &joined)?;
        }
        self.count += (to - from) as u64;
        self.bytes += (last - first) as u64;
        Ok(())
    }

    fn write(&mut self, lead: &[u8], body: &[u8]) -> Result<(), ConnectError> {
        if self.gathered.len() + lead.len() + body.len() < GATHER_BYTES {
            self.gathered.extend_from_slice(lead);
            self.gathered.extend_from_slice(body);
            return Ok(());
        }
        self.flush()?;
        self.file.write_or_undo([lead, body]).map_err(|e| io(&self.path, "write", &e))
    }

    fn flush(&mut self) -> Result<(), ConnectError> {
        if self.gathered.is_empty() {
            return Ok(());
        }
        self.file.write_or_undo([&self.gathered, &[]]).map_err(|e| io(&self.path, "write", &e))?;
        self.gathered.clear();
        Ok(())
    }
}

fn batch_start(ends: &[u32], i: usize) -> usize {
    if i == 0 { 0 } else { ends[i - 1] as usize + 1 }
}

impl Sink for FileSink {
    fn open<'a>(&'a mut self, cx: &'a SinkCx) -> BoxFuture<'a, Result<(), ConnectError>> {
        self.base = cx.services.base.clone();
        self.clock = Some(cx.clock.clone());
        self.now_ms = cx.clock.now_ms();
        cx.status.connected(self.now_ms);
        Box::pin(async { Ok(()) })
    }

    fn service(&self) -> Service {
        Service::Lazy
    }

    fn write<'a>(
        &'a mut self,
        batch: &'a SinkBatch,
        from: usize,
    ) -> BoxFuture<'a, Result<(), ConnectError>> {
        let done = self.write_now(batch, from);
        Box::pin(async { done })
    }

    fn flush(&mut self) -> BoxFuture<'_, Result<(), ConnectError>> {
        let done = self.files.values_mut().try_for_each(Out::flush);
        Box::pin(async { done })
    }

    fn deadline(&self) -> Option<i64> {
        let ages = self.files.values().map(|o| o.since_ms);
        self.rolling.next_check(ages.min()?)
    }

    fn tick(&mut self, now_ms: i64) -> BoxFuture<'_, Result<(), ConnectError>> {
        self.now_ms = now_ms;
        let due: Vec<PathBuf> = self
            .files
            .values()
            .filter(|o| self.rolling.too_old(o.since_ms, now_ms))
            .map(|o| o.path.clone())
            .collect();
        let done = due.iter().try_for_each(|path| self.close_file(path));
        Box::pin(async { done })
    }

    fn close(&mut self) -> BoxFuture<'_, Result<(), ConnectError>> {
        let open: Vec<PathBuf> = self.files.keys().cloned().collect();
        let done = open.iter().try_for_each(|path| self.close_file(path));
        Box::pin(async { done })
    }

    fn packs(&mut self, key: Option<&[u8]>) -> bool {
        self.codec.key = key.map(<[u8]>::to_vec);
        true
    }

    fn templated(&self) -> &'static [&'static str] {
        if self.template { &["path"] } else { &[] }
    }
}

/// Plain files: a write that fails is undone by cutting the file.
pub(super) fn write_or_undo(
    file: &mut File,
    len: &mut u64,
    parts: [&[u8]; 2],
) -> std::io::Result<()> {
    match parts.iter().try_for_each(|part| file.write_all(part)) {
        Ok(()) => {
            *len += (parts[0].len() + parts[1].len()) as u64;
            Ok(())
        }
        Err(error) => {
            use std::io::{Seek, SeekFrom};
            // best effort: the file system that refused the write may refuse this as well
            let _ = file.set_len(*len).and_then(|()| file.seek(SeekFrom::Start(*len)));
            Err(error)
        }
    }
}
