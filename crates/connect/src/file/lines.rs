//! Lines of a file in large blocks: the lines of a block are spans of one buffer.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read};

use bytes::Bytes;
use memchr::{memchr_iter, memrchr};
use rekuiper_rt::limits::READ_BUFFER_BYTES;
use rekuiper_value::batch::{Msg, MsgMeta};

/// Longest line that is read: a file without line ends must not fill the memory.
pub const LINE_BYTES_MAX: usize = 256 << 20;

/// Lines that were read together.
pub struct Block {
    pub bytes: Bytes,
    pub lines: Vec<Msg>,
}

/// Reads a file line by line, leaving out lines at both ends.
pub struct LineReader {
    file: File,
    /// The beginning of a line whose end was not read yet.
    carry: Vec<u8>,
    ended: bool,
    skip_start: usize,
    skip_end: usize,
    /// The last `skip_end` lines so far: dropped when the file ends here.
    held: VecDeque<Bytes>,
}

impl LineReader {
    pub fn new(file: File, skip_start: usize, skip_end: usize) -> Self {
        let (carry, held) = (Vec::new(), VecDeque::new());
        LineReader { file, carry, ended: false, skip_start, skip_end, held }
    }

    /// The next lines; `None` at the end. A block may be empty.
    pub fn next(&mut self) -> io::Result<Option<Block>> {
        if self.ended {
            return Ok(None);
        }
        let (buffer, whole) = self.read()?;
        let mut lines = spans(&buffer[..whole]);
        let skipped = self.skip_start.min(lines.len());
        self.skip_start -= skipped;
        lines.drain(..skipped);
        let bytes = Bytes::from(buffer).slice(..whole);
        let block = Block { bytes, lines };
        Ok(Some(if self.skip_end == 0 { block } else { self.hold_back(block) }))
    }

    /// Reads until there is a whole line: the buffer, and where its last whole line ends.
    fn read(&mut self) -> io::Result<(Vec<u8>, usize)> {
        let mut buffer = std::mem::take(&mut self.carry);
        loop {
            let start = buffer.len();
            // a long line doubles the buffer, so that reading it stays linear
            let chunk = READ_BUFFER_BYTES.max(start);
            (&mut self.file).take(chunk as u64).read_to_end(&mut buffer)?;
            if buffer.len() - start < chunk {
                self.ended = true;
                let whole = buffer.len();
                return Ok((buffer, whole));
            }
            if let Some(at) = memrchr(b'\n', &buffer[start..]) {
                let whole = start + at + 1;
                self.carry.extend_from_slice(&buffer[whole..]);
                return Ok((buffer, whole));
            }
            if buffer.len() > LINE_BYTES_MAX {
                return Err(io::Error::other(format!(
                    "a line is longer than {LINE_BYTES_MAX} bytes; is this a file of lines?"
                )));
            }
        }
    }

    /// Exchanges the last lines of a block for those held back before.
    fn hold_back(&mut self, block: Block) -> Block {
        let slice = |msg: &Msg| {
            let (at, len) = msg.payload;
            block.bytes.slice(at as usize..(at + len) as usize)
        };
        self.held.extend(block.lines.iter().map(slice));
        let free = self.held.len().saturating_sub(self.skip_end);
        let mut buffer = Vec::new();
        let mut lines = Vec::with_capacity(free);
        for line in self.held.drain(..free) {
            lines.push(span(buffer.len(), line.len()));
            buffer.extend_from_slice(&line);
        }
        Block { bytes: buffer.into(), lines }
    }
}

fn span(at: usize, len: usize) -> Msg {
    Msg { payload: (at as u32, len as u32), meta: MsgMeta::default() }
}

/// The lines of a text without their line ends; the last one may lack its end.
fn spans(text: &[u8]) -> Vec<Msg> {
    let mut lines = Vec::with_capacity(text.len() / 64 + 1);
    let mut start = 0;
    let mut push = |start: usize, end: usize| {
        let returns = usize::from(end > start && text[end - 1] == b'\r');
        lines.push(span(start, end - start - returns));
    };
    for end in memchr_iter(b'\n', text) {
        push(start, end);
        start = end + 1;
    }
    if start < text.len() {
        push(start, text.len());
    }
    lines
}
