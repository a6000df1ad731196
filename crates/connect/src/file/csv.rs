//! Records of a csv file as rows of texts. Quotes are honoured, blanks before a value are not part
//! of it, empty lines are no records.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;

use rekuiper_rt::limits::READ_BUFFER_BYTES;
use rekuiper_value::{Object, Str, Value};

use super::lines::LINE_BYTES_MAX;

/// How the records are laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    pub delimiter: u8,
    /// Whether the first record holds names.
    pub header: bool,
    /// Names that win over those of the header.
    pub columns: Vec<Str>,
}

/// Reads records in blocks.
pub struct CsvReader {
    file: File,
    layout: Layout,
    names: Vec<Str>,
    header_read: bool,
    buffer: Vec<u8>,
    at: usize,
    ended: bool,
    skip_start: usize,
    skip_end: usize,
    held: VecDeque<Arc<Object>>,
}

impl CsvReader {
    pub fn new(file: File, layout: Layout, skip_start: usize, skip_end: usize) -> Self {
        let names = layout.columns.clone();
        CsvReader {
            file,
            names,
            header_read: !layout.header,
            layout,
            buffer: Vec::new(),
            at: 0,
            ended: false,
            skip_start,
            skip_end,
            held: VecDeque::new(),
        }
    }

    /// The next rows; `None` at the end. May be empty.
    pub fn next(&mut self) -> io::Result<Option<Vec<Arc<Object>>>> {
        if self.ended && self.at >= self.buffer.len() {
            return Ok(None);
        }
        self.fill()?;
        let mut rows = Vec::new();
        while self.at < self.buffer.len() {
            if self.skip_start > 0 {
                let Some(end) = memchr::memchr(b'\n', &self.buffer[self.at..]) else {
                    if self.ended {
                        self.at = self.buffer.len();
                    }
                    break;
                };
                self.at += end + 1;
                self.skip_start -= 1;
                continue;
            }
            let text = &self.buffer[self.at..];
            let Some((cells, used)) = record(text, self.layout.delimiter, self.ended) else {
                break;
            };
            self.at += used;
            if !cells.is_empty() {
                self.take(cells, &mut rows);
            }
        }
        Ok(Some(rows))
    }

    /// Reads more. The unfinished record at the front doubles the read, so that a very long one
    /// stays linear.
    fn fill(&mut self) -> io::Result<()> {
        self.buffer.drain(..self.at);
        self.at = 0;
        if self.buffer.len() > LINE_BYTES_MAX {
            return Err(io::Error::other(format!(
                "a record is longer than {LINE_BYTES_MAX} bytes; is a quote left open?"
            )));
        }
        let chunk = READ_BUFFER_BYTES.max(self.buffer.len());
        let read = (&mut self.file).take(chunk as u64).read_to_end(&mut self.buffer)?;
        self.ended = read < chunk;
        Ok(())
    }

    fn take(&mut self, cells: Vec<Str>, rows: &mut Vec<Arc<Object>>) {
        if !self.header_read {
            self.header_read = true;
            if self.names.is_empty() {
                self.names = cells;
            }
            return;
        }
        let named = !self.names.is_empty();
        let mut row = Object::new();
        for (at, cell) in cells.into_iter().enumerate() {
            let name = match self.names.get(at) {
                Some(name) => name.clone(),
                None if named => break, // more cells than names
                None => Str::from(format!("cols{at}")),
            };
            row.insert(name, Value::Str(cell));
        }
        let row = Arc::new(row);
        if self.skip_end == 0 {
            rows.push(row);
            return;
        }
        self.held.push_back(row);
        if self.held.len() > self.skip_end
            && let Some(row) = self.held.pop_front()
        {
            rows.push(row);
        }
    }
}

/// The first record of a text and its length; no cells for an empty line. `None` when the record
/// is not complete and more may come.
fn record(text: &[u8], delimiter: u8, last: bool) -> Option<(Vec<Str>, usize)> {
    let mut cells = Vec::new();
    let mut at = 0;
    loop {
        while at < text.len() && matches!(text[at], b' ' | b'\t') && text[at] != delimiter {
            at += 1;
        }
        let mut cell = Vec::new();
        if text.get(at) == Some(&b'"') {
            at = quoted(text, at + 1, &mut cell, last)?;
        }
        let rest = &text[at..];
        let end = rest.iter().position(|b| *b == delimiter || *b == b'\n');
        let len = end.or(last.then_some(rest.len()))?;
        let ends_line = rest.get(len) != Some(&delimiter);
        let mut tail = &rest[..len];
        if ends_line && let Some(cut) = tail.strip_suffix(b"\r") {
            tail = cut;
        }
        let plain = cell.is_empty() && !matches!(at.checked_sub(1).map(|i| text[i]), Some(b'"'));
        cell.extend_from_slice(tail);
        at = (at + len + 1).min(text.len());
        let blank_line = ends_line && cells.is_empty() && plain && cell.is_empty();
        if blank_line {
            return Some((cells, at));
        }
        cells.push(Str::from(String::from_utf8_lossy(&cell).as_ref()));
        if ends_line {
            return Some((cells, at));
        }
        if at >= text.len() && !last {
            return None;
        }
    }
}

/// Reads on behind an opening quote; where the text after the closing one begins.
fn quoted(text: &[u8], mut at: usize, cell: &mut Vec<u8>, last: bool) -> Option<usize> {
    loop {
        let Some(quote) = memchr::memchr(b'"', &text[at..]) else {
            if !last {
                return None;
            }
            cell.extend_from_slice(&text[at..]); // never closed: all the rest
            return Some(text.len());
        };
        cell.extend_from_slice(&text[at..at + quote]);
        at += quote + 1;
        match text.get(at) {
            Some(b'"') => {
                cell.push(b'"');
                at += 1;
            }
            None if !last => return None,
            _ => return Some(at),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<Vec<String>> {
        let mut out = Vec::new();
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let (cells, used) = record(rest, b',', true).unwrap();
            rest = &rest[used..];
            out.push(cells.iter().map(|c| c.to_string()).collect());
        }
        out
    }

    #[test]
    fn records() {
        assert_eq!(all("a,b\r\n1, 2\n"), [["a", "b"], ["1", "2"]]);
        assert_eq!(all("\"x,\"\"y\"\"\nz\",2"), [["x,\"y\"\nz", "2"]]);
        assert_eq!(all("\"open,1\n2"), [["open,1\n2"]]);
        assert_eq!(all("\"\",\n"), [["", ""]]);
        assert_eq!(all("\"\"\n"), [[""]]);
        assert_eq!(all("\n1\n"), [vec![], vec!["1".to_string()]]);
    }

    proptest::proptest! {
        #[test]
        fn ends_and_goes_on(text in "[a,\" \n\r]{0,40}") {
            let cells = all(&text);
            proptest::prop_assert!(cells.len() <= text.len());
            // a piece without its end either waits or gives what the whole text gives first
            for cut in 0..text.len() {
                if let Some((cells, used)) = record(&text.as_bytes()[..cut], b',', false) {
                    let whole = record(text.as_bytes(), b',', true).unwrap();
                    proptest::prop_assert_eq!((cells, used), whole);
                }
            }
        }
    }
}
