//! One connection of the neutral peer: the broker's side of MQTT towards an engine.

use std::io::{self, BufReader, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::mqtt;

pub struct Peer {
    out: Mutex<TcpStream>,
    pings_due: AtomicU32,
    alive: AtomicBool,
    level: u8,
}

impl Peer {
    /// Does the handshake up to CONNACK and returns the peer with its reading half.
    pub fn accept(stream: TcpStream) -> io::Result<(Peer, BufReader<TcpStream>)> {
        stream.set_nodelay(true)?;
        let mut from = BufReader::new(stream.try_clone()?);
        let Some(packet) = mqtt::read_packet(&mut from)? else {
            return Err(io::ErrorKind::UnexpectedEof.into());
        };
        if packet.kind != mqtt::CONNECT {
            let text = format!("first packet has type {}, expected CONNECT", packet.kind);
            return Err(io::Error::new(io::ErrorKind::InvalidData, text));
        }
        let level = mqtt::connect_level(&packet.body)?;
        let mut out = stream;
        out.write_all(&mqtt::connack(level))?;
        let peer = Peer {
            out: Mutex::new(out),
            pings_due: AtomicU32::new(0),
            alive: AtomicBool::new(true),
            level,
        };
        Ok((peer, from))
    }

    pub fn level(&self) -> u8 {
        self.level
    }

    pub fn alive(&self) -> bool {
        self.alive.load(Ordering::Acquire)
    }

    /// Answers packets until the engine goes; `subscribed` hears each filter.
    pub fn serve(&self, from: &mut BufReader<TcpStream>, mut subscribed: impl FnMut(&str)) {
        while let Ok(Some(packet)) = mqtt::read_packet(from) {
            let answered = match packet.kind {
                mqtt::SUBSCRIBE => {
                    mqtt::filters(self.level, &packet.body, true).and_then(|(id, list)| {
                        self.send(&mqtt::suback(self.level, id, list.len()))?;
                        list.iter().for_each(|filter| subscribed(filter));
                        Ok(())
                    })
                }
                mqtt::UNSUBSCRIBE => mqtt::filters(self.level, &packet.body, false)
                    .and_then(|(id, list)| self.send(&mqtt::unsuback(self.level, id, list.len()))),
                mqtt::PINGREQ => {
                    self.pings_due.fetch_add(1, Ordering::AcqRel);
                    // Never waits: while a push holds the socket, the push answers the ping.
                    self.flush_pings();
                    Ok(())
                }
                mqtt::DISCONNECT => break,
                _ => Ok(()),
            };
            if answered.is_err() {
                break;
            }
        }
        self.alive.store(false, Ordering::Release);
    }

    /// Writes whole packets, then any ping answers that came due.
    pub fn send(&self, packets: &[u8]) -> io::Result<()> {
        let result = {
            let mut out = self.lock();
            let sent = out.write_all(packets);
            sent.and_then(|()| self.answer(&mut out))
        };
        self.flush_pings();
        if result.is_err() {
            self.alive.store(false, Ordering::Release);
        }
        result
    }

    pub fn close(&self) {
        let _ = self.lock().shutdown(std::net::Shutdown::Both);
    }

    fn lock(&self) -> MutexGuard<'_, TcpStream> {
        self.out.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Answers due pings if nobody else is writing. Called again by `send` after it let go of
    /// the socket, so a ping that came meanwhile is not forgotten.
    pub fn flush_pings(&self) {
        while self.pings_due.load(Ordering::Acquire) > 0 {
            let Ok(mut out) = self.out.try_lock() else {
                return;
            };
            if self.answer(&mut out).is_err() {
                return;
            }
        }
    }

    fn answer(&self, out: &mut TcpStream) -> io::Result<()> {
        for _ in 0..self.pings_due.swap(0, Ordering::AcqRel) {
            out.write_all(&mqtt::PINGRESP_BYTES)?;
        }
        Ok(())
    }
}
