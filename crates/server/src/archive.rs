//! Zip archives from outside: bounded, and no name in them leads anywhere else.

use std::collections::BTreeMap;
use std::io::{Cursor, Read};

use bytes::Bytes;
use zip::ZipArchive;

use crate::error::{ApiError, ApiResult};

const MAX_ENTRIES: usize = 10_000;
/// All entries together, unpacked.
const MAX_BYTES: u64 = 512 << 20;

/// The files of an archive by their path, which has neither `..` nor a leading slash.
#[derive(Debug)]
pub struct Archive {
    files: BTreeMap<String, Vec<u8>>,
}

impl Archive {
    pub fn read(data: Bytes) -> ApiResult<Archive> {
        let fault = |e: String| ApiError::bad(format!("the file is not a usable zip archive: {e}"));
        let mut zip = ZipArchive::new(Cursor::new(data)).map_err(|e| fault(e.to_string()))?;
        if zip.len() > MAX_ENTRIES {
            return Err(fault(format!("it has more than {MAX_ENTRIES} entries")));
        }
        let (mut files, mut left) = (BTreeMap::new(), MAX_BYTES);
        for i in 0..zip.len() {
            let entry = zip.by_index(i).map_err(|e| fault(e.to_string()))?;
            if entry.is_dir() {
                continue;
            }
            let name = entry.name().map_err(|e| fault(e.to_string()))?.into_owned();
            if !plain(&name) || entry.is_symlink() {
                return Err(fault(format!("entry {name:?} would leave its folder")));
            }
            let mut content = Vec::new();
            let read = entry.take(left + 1).read_to_end(&mut content);
            let read = read.map_err(|e| fault(e.to_string()))? as u64;
            left = left
                .checked_sub(read)
                .ok_or_else(|| fault(format!("it unpacks to more than {MAX_BYTES} bytes")))?;
            files.insert(name, content);
        }
        Ok(Archive { files })
    }

    pub fn text(&self, path: &str) -> Option<String> {
        self.files
            .get(path)
            .map(|c| String::from_utf8_lossy(c).into_owned())
    }

    pub fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(k, v)| (k.as_str(), v.as_slice()))
    }

    /// What lies in a folder, by the rest of the path.
    pub fn below<'a>(&'a self, folder: &'a str) -> impl Iterator<Item = (&'a str, &'a [u8])> {
        self.files()
            .filter_map(move |(k, v)| Some((k.strip_prefix(folder)?, v)))
    }
}

fn plain(name: &str) -> bool {
    let odd = |c: char| c == '\\' || c == ':' || c.is_control();
    !name.is_empty()
        && !name.contains(odd)
        && name
            .split('/')
            .all(|part| !part.is_empty() && part != "." && part != "..")
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    fn zip(entries: &[(&str, &str)]) -> Bytes {
        let mut out = zip::ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in entries {
            out.start_file(*name, zip::write::SimpleFileOptions::default())
                .unwrap();
            out.write_all(content.as_bytes()).unwrap();
        }
        out.finish().unwrap().into_inner().into()
    }

    #[test]
    fn files_are_read() {
        let a = Archive::read(zip(&[("a.json", "{}"), ("schemas/x.proto", "p")])).unwrap();
        assert_eq!(a.text("a.json").as_deref(), Some("{}"));
        assert_eq!(
            a.below("schemas/").collect::<Vec<_>>(),
            [("x.proto", &b"p"[..])]
        );
    }

    #[test]
    fn names_that_leave_the_folder_are_refused() {
        for name in ["../x", "/x", "a/../../x", "a\\..\\x", "c:x"] {
            assert!(Archive::read(zip(&[(name, "")])).is_err(), "{name}");
        }
    }

    #[test]
    fn what_is_no_archive_is_refused() {
        assert!(Archive::read(Bytes::from_static(b"PK\x03\x04nonsense")).is_err());
    }
}
