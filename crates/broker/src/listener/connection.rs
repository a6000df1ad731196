//! One connection after its CONNACK: reads into the thread's buffer, writes from the thread's
//! buffer, and keeps memory of its own only for what is left over.

use std::cell::RefCell;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use rekuiper_mqtt_codec::{Disconnect, Packet, ReasonCode, Version, frame};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use tokio::net::TcpStream;

use crate::core::{Accepted, Goodbye, Next};
use crate::door::Door;
use crate::handle::Shared;
use crate::limits::{LINGER_MS, READ_CHUNK_BYTES, REPLY_BYTES_MAX, WRITE_CHUNK_BYTES};

thread_local! {
    static READ: RefCell<Vec<u8>> = RefCell::new(vec![0; READ_CHUNK_BYTES]);
    static WRITE: RefCell<Vec<u8>> = RefCell::new(Vec::with_capacity(WRITE_CHUNK_BYTES));
}

/// Why a connection ends, and what the client is to hear of it.
type End = (Option<ReasonCode>, Goodbye);

pub(super) struct Connection {
    stream: TcpStream,
    shared: Arc<Shared>,
    door: Arc<Door>,
    who: Accepted,
    version: Version,
    /// Read and not understood yet: a part of a packet
    part: Vec<u8>,
    /// Read and not handled yet, because a link is full or answers must go out first
    held: Bytes,
    /// `held` may be tried again
    retry: bool,
    /// Written and not sent yet, from `sent` on
    out: Vec<u8>,
    sent: usize,
    /// The core may have something for this client
    ask: bool,
    packet_bytes_max: usize,
}

impl Connection {
    pub(super) fn new(
        stream: TcpStream,
        shared: Arc<Shared>,
        door: Arc<Door>,
        who: Accepted,
        version: Version,
        held: Bytes,
        out: Vec<u8>,
    ) -> Connection {
        let part = Vec::new();
        let packet_bytes_max = shared.with(|core| core.config.limits.packet_bytes_max);
        Connection {
            stream,
            shared,
            door,
            who,
            version,
            part,
            held,
            retry: true,
            out,
            sent: 0,
            ask: true,
            packet_bytes_max,
        }
    }

    pub(super) async fn run(mut self) {
        let door = self.door.clone();
        let (reason, how) = loop {
            tokio::select! {
                biased;
                _ = door.knocked() => {
                    if let Some(reason) = door.closed() {
                        break (Some(reason), Goodbye::Abrupt);
                    }
                    self.ask = true;
                    self.retry = true;
                }
                end = std::future::poll_fn(|cx| self.poll(cx)) => break end,
            }
        };
        let (id, epoch, now) = (self.who.id, self.who.epoch, self.shared.now());
        self.shared.with(|core| core.on_close(id, epoch, how, now));
        Box::pin(self.farewell(reason)).await;
    }

    /// Reads and writes until neither is possible.
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<End> {
        loop {
            let Ok(idle) = self.poll_write(cx) else {
                return Poll::Ready((None, Goodbye::Abrupt));
            };
            if idle && self.ask {
                self.fill();
                continue;
            }
            // who does not read its answers is not read from for ever
            if self.out.len() - self.sent > REPLY_BYTES_MAX + WRITE_CHUNK_BYTES {
                return Poll::Pending;
            }
            if !self.held.is_empty() {
                if !self.retry {
                    return Poll::Pending;
                }
                self.retry = false;
                let held = std::mem::take(&mut self.held);
                if let Some(end) = self.handle(held) {
                    return Poll::Ready(end);
                }
                continue;
            }
            match self.poll_read(cx) {
                Poll::Ready(Ok(chunk)) => {
                    if let Some(end) = self.handle(chunk) {
                        return Poll::Ready(end);
                    }
                }
                Poll::Ready(Err(_)) => return Poll::Ready((None, Goodbye::Abrupt)),
                Poll::Pending => return Poll::Pending,
            }
        }
    }

    /// What was read, in memory of its own size; an error also stands for the end.
    fn poll_read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
        READ.with_borrow_mut(|scratch| {
            loop {
                let mut buf = ReadBuf::new(scratch);
                std::task::ready!(Pin::new(&mut self.stream).poll_read(cx, &mut buf))?;
                let read = buf.filled();
                if read.is_empty() {
                    return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
                }
                if self.part.is_empty() {
                    return Poll::Ready(Ok(Bytes::copy_from_slice(read)));
                }
                self.part.extend_from_slice(read);
                if !self.part_is_short() {
                    return Poll::Ready(Ok(Bytes::from(std::mem::take(&mut self.part))));
                }
            }
        })
    }

    /// Is `part` known to need more? A packet that is too large is left to the core to refuse.
    fn part_is_short(&self) -> bool {
        frame::needed(&self.part)
            .is_some_and(|needed| needed > self.part.len() && needed <= self.packet_bytes_max)
    }

    /// Sends what is left over; `true` = nothing is.
    fn poll_write(&mut self, cx: &mut Context<'_>) -> io::Result<bool> {
        while self.sent < self.out.len() {
            let rest = &self.out[self.sent..];
            match Pin::new(&mut self.stream).poll_write(cx, rest) {
                Poll::Ready(Ok(0)) => return Err(io::ErrorKind::WriteZero.into()),
                Poll::Ready(Ok(n)) => self.sent += n,
                Poll::Ready(Err(error)) => return Err(error),
                Poll::Pending => return Ok(false),
            }
        }
        if self.sent > 0 {
            self.out = Vec::new();
            self.sent = 0;
        }
        Ok(true)
    }

    /// Hands bytes to the core and sends what it answers.
    fn handle(&mut self, chunk: Bytes) -> Option<End> {
        let (id, epoch) = (self.who.id, self.who.epoch);
        let shared = self.shared.clone();
        WRITE.with_borrow_mut(|out| {
            let now = shared.now();
            let idle = self.out.is_empty();
            let (progress, more) = shared.with(|core| {
                let progress = core.on_bytes(id, epoch, &chunk, now, out);
                // messages wait in the queue, where they are counted, while the socket is full
                let fill = idle && progress.next_is_open();
                let more = !fill || core.fill(id, epoch, now, WRITE_CHUNK_BYTES, out);
                core.stats.bytes_sent += out.len() as u64;
                (progress, more)
            });
            self.ask = more;
            self.send(out);
            let rest = progress.used..chunk.len();
            match progress.next {
                // a part of a packet does not keep the whole read alive
                Next::Read => self.part = chunk[rest].to_vec(),
                Next::Wait => self.held = chunk.slice(rest),
                Next::Write => {
                    self.held = chunk.slice(rest);
                    self.retry = true;
                }
                Next::Close(reason, how) => return Some((reason, how)),
            }
            None
        })
    }

    fn fill(&mut self) {
        let (id, epoch) = (self.who.id, self.who.epoch);
        let shared = self.shared.clone();
        WRITE.with_borrow_mut(|out| {
            let now = shared.now();
            self.ask = shared.with(|core| {
                let more = core.fill(id, epoch, now, WRITE_CHUNK_BYTES, out);
                core.stats.bytes_sent += out.len() as u64;
                more
            });
            self.send(out);
        });
    }

    /// Sends at once what the socket takes, keeps the rest, and leaves the thread's buffer empty.
    fn send(&mut self, buffer: &mut Vec<u8>) {
        if buffer.is_empty() {
            return;
        }
        let taken = match self.out.is_empty() {
            true => self.stream.try_write(buffer).unwrap_or(0),
            false => 0,
        };
        self.out.extend_from_slice(&buffer[taken..]);
        buffer.clear();
        if buffer.capacity() > 4 * WRITE_CHUNK_BYTES {
            *buffer = Vec::with_capacity(WRITE_CHUNK_BYTES);
        }
    }

    /// Tells a client of MQTT 5 why, and gives it a moment to read that.
    async fn farewell(mut self, reason: Option<ReasonCode>) {
        let Some(reason) = reason else { return };
        tracing::debug!(%reason, "broker: connection ended");
        let mut out = self.out.split_off(self.sent.min(self.out.len()));
        if self.version.is_v5() {
            let _ = Packet::Disconnect(Disconnect::new(reason)).encode(self.version, &mut out);
        }
        let stream = &mut self.stream;
        let talk = async {
            stream.write_all(&out).await?;
            stream.shutdown().await?;
            // unread bytes would make the system reset the connection and lose the goodbye
            let mut sink = [0u8; 1024];
            while stream.read(&mut sink).await? > 0 {}
            io::Result::Ok(())
        };
        let _ = tokio::time::timeout(Duration::from_millis(LINGER_MS), talk).await;
    }
}

/// Also when the task ends by a panic or with its runtime: the session must not believe that its
/// client is still there. After a regular end this does nothing.
impl Drop for Connection {
    fn drop(&mut self) {
        let (id, epoch, now) = (self.who.id, self.who.epoch, self.shared.now());
        self.shared
            .with(|core| core.on_close(id, epoch, Goodbye::Abrupt, now));
    }
}
