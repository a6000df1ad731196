//! A bare reader of the `direct` peer: subscribes, reads with large reads, counts packets and
//! does nothing else. What it reaches is the peer's ceiling; no engine can show more.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use crate::mqtt;
use crate::workload::Workload;

const READ_BYTES: usize = 256 * 1024;

pub struct Received {
    pub messages: u64,
    pub bytes: u64,
    pub seconds: f64,
}

/// Reads until the peer closes or is silent for `quiet` after the first message.
pub fn run(addr: &str, workload: Workload, level: u8, quiet: Duration) -> io::Result<Received> {
    let mut stream = TcpStream::connect(addr)?;
    stream.write_all(&mqtt::connect(level, "sink-check"))?;
    stream.write_all(&mqtt::subscribe(level, 1, workload.filter()))?;
    for _ in 0..2 {
        mqtt::read_packet(&mut stream)?.ok_or(io::ErrorKind::UnexpectedEof)?;
    }
    let mut walker = Walker::default();
    let mut buffer = vec![0u8; READ_BYTES];
    let (mut bytes, mut first, mut last) = (0u64, None, Instant::now());
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => {
                last = Instant::now();
                if first.is_none() {
                    first = Some(last);
                    stream.set_read_timeout(Some(quiet))?;
                }
                bytes += n as u64;
                walker.walk(&buffer[..n]);
            }
            Err(e)
                if matches!(
                    e.kind(),
                    io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
                ) =>
            {
                break;
            }
            Err(e) => return Err(e),
        }
    }
    let seconds = first.map_or(0.0, |first| (last - first).as_secs_f64());
    Ok(Received {
        messages: walker.packets,
        bytes,
        seconds,
    })
}

/// Counts packets in a byte stream cut anywhere; looks at the headers only.
#[derive(Default)]
struct Walker {
    packets: u64,
    /// Bytes of the current body still to come.
    skip: usize,
    /// In a header: length so far and its shift; `None` before the first byte.
    header: Option<(usize, u32)>,
}

impl Walker {
    fn walk(&mut self, bytes: &[u8]) {
        let mut at = 0;
        while at < bytes.len() {
            if self.skip > 0 {
                let step = self.skip.min(bytes.len() - at);
                self.skip -= step;
                at += step;
                continue;
            }
            let byte = bytes[at];
            at += 1;
            match self.header {
                None => self.header = Some((0, 0)),
                Some((length, shift)) => {
                    let length = length | usize::from(byte & 0x7f) << shift;
                    if byte & 0x80 == 0 || shift >= 21 {
                        self.packets += 1;
                        self.skip = length;
                        self.header = None;
                    } else {
                        self.header = Some((length, shift + 7));
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_counted_however_the_stream_is_cut() {
        let mut bytes = Vec::new();
        for size in [0, 1, 120, 130, 20_000] {
            mqtt::push_publish(&mut bytes, 4, "t", &vec![b'x'; size]);
        }
        for cut in [1, 2, 3, 7, 100, 30_000] {
            let mut walker = Walker::default();
            bytes.chunks(cut).for_each(|part| walker.walk(part));
            assert_eq!(walker.packets, 5, "cut {cut}");
        }
    }
}
