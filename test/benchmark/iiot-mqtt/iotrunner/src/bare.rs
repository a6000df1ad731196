//! The floor: W1 as a bare single-threaded program. Socket, framing, scan of four fields, filter,
//! multiply, write. It trusts its input in ways no engine may (fixed field order inside a message
//! is not assumed, but malformed JSON is skipped silently), so it is a measure, not a product.

use std::fs::File;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

use memchr::memmem::Finder;
use mqttgen::mqtt;
use mqttgen::workload::Workload;

const READ_BYTES: usize = 256 * 1024;
const WRITE_BYTES: usize = 256 * 1024;
/// What is in the buffer goes to the file when the socket is silent for so long.
const QUIET: Duration = Duration::from_millis(50);
/// After a read that brought less than this the next one waits a little: a broker that sends
/// message by message is otherwise read message by message, at several microseconds each.
const READ_SMALL: usize = 16 * 1024;
const LINGER: Duration = Duration::from_millis(1);

/// Runs until the peer closes. `drop_every` loses every n-th row on purpose (0 = none), to see
/// that a proof can fail. `prompt` writes after each read and never lingers.
pub fn run(port: u16, sink: &Path, drop_every: u64, prompt: bool) -> io::Result<()> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.write_all(&mqtt::connect(4, "bare"))?;
    stream.write_all(&mqtt::subscribe(4, 1, Workload::W1.filter()))?;
    stream.set_read_timeout(Some(QUIET))?;
    let mut engine = Engine::new(File::create(sink)?, drop_every);
    let mut buffer = vec![0u8; READ_BYTES];
    let mut filled = 0;
    loop {
        match stream.read(&mut buffer[filled..]) {
            Ok(0) => return engine.flush(),
            Ok(n) => {
                let end = filled + n;
                let used = engine.packets(&buffer[..end])?;
                buffer.copy_within(used..end, 0);
                filled = end - used;
                if filled == buffer.len() {
                    return Err(io::Error::other("a packet is larger than the read buffer"));
                }
                if prompt {
                    engine.flush()?;
                } else if n < READ_SMALL {
                    std::thread::sleep(LINGER);
                }
            }
            Err(e)
                if matches!(
                    e.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                ) =>
            {
                engine.flush()?;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) if e.kind() == io::ErrorKind::ConnectionReset => return engine.flush(),
            Err(e) => return Err(e),
        }
    }
}

/// The same work on packets in memory, its output thrown away.
pub fn in_memory() -> io::Result<impl FnMut(&[u8]) -> io::Result<usize>> {
    let mut engine = Engine::new(File::create("/dev/null")?, 0);
    Ok(move |packets: &[u8]| engine.packets(packets))
}

struct Engine {
    file: File,
    out: Vec<u8>,
    keys: [Finder<'static>; 4],
    number: ryu::Buffer,
    drop_every: u64,
    rows: u64,
}

impl Engine {
    fn new(file: File, drop_every: u64) -> Engine {
        let keys: [&'static [u8]; 4] = [b"\"id\":", b"\"device\":\"", b"\"temp\":", b"\"speed\":"];
        Engine {
            file,
            out: Vec::with_capacity(WRITE_BYTES + 4096),
            keys: keys.map(Finder::new),
            number: ryu::Buffer::new(),
            drop_every,
            rows: 0,
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.write_all(&self.out)?;
        self.out.clear();
        Ok(())
    }

    /// Handles the whole packets in `bytes`; returns how many bytes they took.
    fn packets(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut at = 0;
        while let Some((start, end)) = frame(&bytes[at..]) {
            if bytes[at] >> 4 == mqtt::PUBLISH {
                self.publish(&bytes[at + start..at + end]);
                if self.out.len() >= WRITE_BYTES {
                    self.flush()?;
                }
            }
            at += end;
        }
        Ok(at)
    }

    fn publish(&mut self, body: &[u8]) {
        let Some(size) = body.first_chunk::<2>().map(|b| u16::from_be_bytes(*b)) else {
            return;
        };
        let Some(json) = body.get(2 + usize::from(size)..) else {
            return;
        };
        let mut fields: [&[u8]; 4] = [&[]; 4];
        let mut from = 0;
        for (field, key) in fields.iter_mut().zip(&self.keys) {
            let Some(found) = key.find(&json[from..]) else {
                return;
            };
            let start = from + found + key.needle().len();
            let length = json[start..]
                .iter()
                .position(|b| matches!(b, b',' | b'"' | b'}'));
            let Some(length) = length else { return };
            *field = &json[start..start + length];
            from = start + length;
        }
        let [id, device, temp, speed] = fields;
        let (Some(t), Some(s)) = (parse(temp), parse(speed)) else {
            return;
        };
        if t > 21.0 {
            self.rows += 1;
            if self.drop_every > 0 && self.rows.is_multiple_of(self.drop_every) {
                return;
            }
            self.write(id, device, temp, s * 3.6);
        }
    }

    fn write(&mut self, id: &[u8], device: &[u8], temp: &[u8], kmh: f64) {
        let out = &mut self.out;
        let parts: [&[u8]; 6] = [
            b"{\"id\":",
            id,
            b",\"device\":\"",
            device,
            b"\",\"temp\":",
            temp,
        ];
        for part in parts {
            out.extend_from_slice(part);
        }
        out.extend_from_slice(b",\"speed_kmh\":");
        out.extend_from_slice(self.number.format_finite(kmh).as_bytes());
        out.extend_from_slice(b"}\n");
    }
}

/// Start and end of the body of the packet at the front; `None` when it is not whole.
fn frame(bytes: &[u8]) -> Option<(usize, usize)> {
    let (mut length, mut shift, mut at) = (0usize, 0, 1);
    loop {
        let byte = *bytes.get(at)?;
        at += 1;
        length |= usize::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 || shift > 21 {
            break;
        }
    }
    (at + length <= bytes.len()).then_some((at, at + length))
}

/// A short decimal like `21.5`, exactly as `str::parse` has it: fifteen digits or fewer divided
/// by an exact power of ten round once.
fn parse(text: &[u8]) -> Option<f64> {
    let (mut digits, mut scale, mut fraction) = (0u64, 1.0f64, false);
    if text.is_empty() || text.len() > 15 {
        return std::str::from_utf8(text).ok()?.parse().ok();
    }
    for byte in text {
        match byte {
            b'0'..=b'9' => {
                digits = digits * 10 + u64::from(byte - b'0');
                if fraction {
                    scale *= 10.0;
                }
            }
            b'.' if !fraction => fraction = true,
            _ => return std::str::from_utf8(text).ok()?.parse().ok(),
        }
    }
    Some(digits as f64 / scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_those_of_the_standard_library() {
        for text in [
            "0",
            "21.0",
            "21.05",
            "99.9",
            "-3.5",
            "1e3",
            "123456789.123",
            "0.1",
        ] {
            assert_eq!(parse(text.as_bytes()), text.parse().ok(), "{text}");
        }
        assert_eq!(parse(b"abc"), None);
        assert_eq!(parse(b""), None);
    }

    #[test]
    fn frames_need_to_be_whole() {
        let mut bytes = Vec::new();
        mqtt::push_publish(&mut bytes, 4, "t", &[b'x'; 200]);
        assert_eq!(frame(&bytes), Some((3, bytes.len())));
        assert_eq!(frame(&bytes[..bytes.len() - 1]), None);
        assert_eq!(frame(&bytes[..2]), None);
        assert_eq!(frame(&[]), None);
    }
}
