//! A file line by line, in large reads, for files of many gigabytes.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

const READ_BYTES: usize = 4 << 20;
/// A longer line than this is no row of any workload.
const LINE_BYTES_MAX: usize = 256 << 20;

/// Calls `each` with every non-empty line, without its end. A last line without a newline counts.
pub fn for_each(path: &Path, mut each: impl FnMut(&[u8])) -> io::Result<()> {
    let mut file = File::open(path)?;
    let mut buffer = vec![0u8; READ_BYTES];
    let mut filled = 0;
    loop {
        if filled == buffer.len() {
            if buffer.len() >= LINE_BYTES_MAX {
                return Err(io::Error::other("a line is longer than 256 MiB"));
            }
            buffer.resize(buffer.len() * 2, 0);
        }
        let n = file.read(&mut buffer[filled..])?;
        let end = filled + n;
        let mut start = 0;
        for newline in memchr::memchr_iter(b'\n', &buffer[filled..end]) {
            give(&buffer[start..filled + newline], &mut each);
            start = filled + newline + 1;
        }
        if n == 0 {
            give(&buffer[start..end], &mut each);
            return Ok(());
        }
        buffer.copy_within(start..end, 0);
        filled = end - start;
    }
}

fn give(line: &[u8], each: &mut impl FnMut(&[u8])) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if !line.is_empty() {
        each(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_survive_every_cut() {
        let path = std::env::temp_dir().join(format!("iotrunner-lines-{}", std::process::id()));
        let mut text = String::new();
        for i in 0..300_000 {
            text.push_str(&format!("{i:>width$}\n", width = 1 + i % 40));
        }
        text.push_str("\nlast without end");
        std::fs::write(&path, &text).unwrap();
        let mut seen = Vec::new();
        for_each(&path, |line| {
            seen.push(String::from_utf8_lossy(line).into_owned())
        })
        .unwrap();
        std::fs::remove_file(&path).unwrap();
        let expected: Vec<&str> = text.split('\n').filter(|line| !line.is_empty()).collect();
        assert_eq!(seen, expected);
    }
}
