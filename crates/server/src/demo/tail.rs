//! Follows the lines of a rolling file, and deletes what was read of it to the end: the demo may
//! run for days on a small disk.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The newest lines that are kept to be shown.
const NEWEST: usize = 3;
const CHUNK_BYTES: usize = 256 << 10;
/// Chunks of one reading: who reads has a screen to draw too.
const CHUNKS_MAX: usize = 8;

pub struct Tail {
    folder: PathBuf,
    rule: &'static str,
    /// How much of the oldest file was read.
    offset: u64,
    /// The last line so far: it has no line feed before the next one comes.
    open: Vec<u8>,
    newest: VecDeque<String>,
}

impl Tail {
    pub fn new(folder: &Path, rule: &'static str) -> Tail {
        let (folder, newest) = (folder.to_owned(), VecDeque::new());
        Tail { folder, rule, offset: 0, open: Vec::new(), newest }
    }

    /// Oldest first.
    pub fn newest(&self) -> impl Iterator<Item = &str> {
        self.newest.iter().map(String::as_str)
    }

    /// Gives the lines that were completed since. True: there may be more.
    pub fn read(&mut self, mut each: impl FnMut(&[u8])) -> Result<bool, String> {
        // the live file first: if it is rolled meanwhile, it is found among the others by its inode
        let live_path = self.folder.join(format!("{}.jsonl", self.rule));
        let live = match File::open(&live_path) {
            Ok(file) => Some(file),
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(unreadable(&live_path, &e)),
        };
        let inode = live.as_ref().and_then(|f| f.metadata().ok()).map(|m| m.ino());
        for path in self.rolled()? {
            let mut file = File::open(&path).map_err(|e| unreadable(&path, &e))?;
            if file.metadata().ok().map(|m| m.ino()) == inode {
                break;
            }
            if self.follow(&mut file, &mut each).map_err(|e| unreadable(&path, &e))? {
                return Ok(true);
            }
            self.end(&mut each);
            self.offset = 0;
            std::fs::remove_file(&path).map_err(|e| unreadable(&path, &e))?;
        }
        match live {
            None => Ok(false),
            Some(mut file) => {
                self.follow(&mut file, &mut each).map_err(|e| unreadable(&live_path, &e))
            }
        }
    }

    /// No line feed follows the newest row. A flat JSON object is whole when it has its bracket.
    pub fn settle(&mut self, each: impl FnMut(&[u8])) {
        if self.open.ends_with(b"}") {
            self.end(each);
        }
    }

    /// No more will be written: what stands at the end is a line.
    pub fn end(&mut self, mut each: impl FnMut(&[u8])) {
        if !self.open.is_empty() {
            let line = std::mem::take(&mut self.open);
            each(&line);
            self.keep(&line);
        }
    }

    /// Closed files in the order of their time, which their names end with.
    fn rolled(&self) -> Result<Vec<PathBuf>, String> {
        let start = format!("{}-", self.rule);
        let entries = std::fs::read_dir(&self.folder).map_err(|e| unreadable(&self.folder, &e))?;
        let named = |p: &PathBuf| {
            p.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&start))
        };
        let mut paths: Vec<PathBuf> = entries.flatten().map(|e| e.path()).filter(named).collect();
        paths.sort();
        Ok(paths)
    }

    fn follow(&mut self, file: &mut File, each: &mut impl FnMut(&[u8])) -> std::io::Result<bool> {
        file.seek(SeekFrom::Start(self.offset))?;
        let mut chunk = vec![0; CHUNK_BYTES];
        let mut last: Option<Vec<u8>> = None;
        let mut more = true;
        for _ in 0..CHUNKS_MAX {
            let got = file.read(&mut chunk)?;
            if got == 0 {
                more = false;
                break;
            }
            self.offset += got as u64;
            let mut parts = chunk[..got].split(|b| *b == b'\n');
            self.open.extend_from_slice(parts.next().unwrap_or_default());
            for part in parts {
                let line = std::mem::replace(&mut self.open, part.to_vec());
                if line.is_empty() {
                    // was taken by `settle`
                    continue;
                }
                each(&line);
                if let Some(before) = last.replace(line) {
                    self.keep(&before);
                }
            }
        }
        if let Some(line) = last {
            self.keep(&line);
        }
        Ok(more)
    }

    fn keep(&mut self, line: &[u8]) {
        if self.newest.len() == NEWEST {
            self.newest.pop_front();
        }
        self.newest.push_back(String::from_utf8_lossy(line).into_owned());
    }
}

fn unreadable(path: &Path, e: &std::io::Error) -> String {
    format!("results cannot be read from {}: {e}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn every_line_once_across_files_that_roll() {
        let folder = std::env::temp_dir().join(format!("rekuiper-tail-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let live = folder.join("r.jsonl");
        let mut tail = Tail::new(&folder, "r");
        let mut seen = Vec::new();
        let mut look = |tail: &mut Tail, end: bool| {
            tail.read(|l| seen.push(String::from_utf8(l.to_vec()).unwrap())).unwrap();
            if end {
                tail.end(|l| seen.push(String::from_utf8(l.to_vec()).unwrap()));
            }
        };
        look(&mut tail, false);
        let mut file = File::create(&live).unwrap();
        file.write_all(b"1\n2\nthr").unwrap();
        look(&mut tail, false);
        file.write_all(b"ee\n4").unwrap();
        look(&mut tail, false);
        tail.settle(|_| panic!("no bracket, not whole"));
        for (stamp, text) in [(100, "5\n6"), (200, "7"), (300, "8\n9")] {
            std::fs::rename(&live, folder.join(format!("r-{stamp}.jsonl"))).unwrap();
            File::create(&live).unwrap().write_all(text.as_bytes()).unwrap();
        }
        look(&mut tail, true);
        File::options().append(true).open(&live).unwrap().write_all(b"\n{}").unwrap();
        look(&mut tail, false);
        let mut settled = 0;
        tail.settle(|line| settled += usize::from(line == b"{}"));
        assert_eq!(settled, 1);
        assert_eq!(seen, ["1", "2", "three", "4", "5", "6", "7", "8", "9"]);
        assert_eq!(tail.newest().collect::<Vec<_>>(), ["8", "9", "{}"]);
        assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 1, "what was read is gone");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
