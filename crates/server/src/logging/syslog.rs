//! Lines of the log for a syslog daemon: the local one, or one that listens at an address.
//!
//! The form is RFC 3164's, facility `user`. A daemon that is not there costs the lines, never the
//! server: the log must not wait.

use std::io::{self, Write};
use std::net::{TcpStream, ToSocketAddrs, UdpSocket};
#[cfg(unix)]
use std::os::unix::net::UnixDatagram;
use std::time::{Duration, Instant};

use tracing::Level;

use super::now::now;
use crate::config::Syslog as Settings;

/// Facility `user`, as number times eight.
const USER: u8 = 8;
const WITHIN: Duration = Duration::from_secs(1);
/// How long nothing is tried after a fault.
const PAUSE: Duration = Duration::from_secs(10);

enum Way {
    Udp(UdpSocket),
    Tcp(TcpStream),
    #[cfg(unix)]
    Local(UnixDatagram),
}

pub struct Syslog {
    settings: Settings,
    way: Option<Way>,
    failed: Option<Instant>,
}

impl Syslog {
    pub fn new(settings: &Settings) -> Option<Syslog> {
        let on = settings.enable;
        on.then(|| Syslog { settings: settings.clone(), way: None, failed: None })
    }

    /// The name of the least severe level that is sent.
    pub fn level(&self) -> &str {
        &self.settings.level
    }

    pub fn write(&mut self, level: &Level, line: &str) -> io::Result<()> {
        if self.failed.is_some_and(|at| at.elapsed() < PAUSE) {
            return Ok(());
        }
        let sent = self.try_write(level, line);
        self.failed = None;
        if sent.is_err() {
            (self.way, self.failed) = (None, Some(Instant::now()));
        }
        sent
    }

    fn try_write(&mut self, level: &Level, line: &str) -> io::Result<()> {
        let way = match &mut self.way {
            Some(way) => way,
            none => none.insert(open(&self.settings)?),
        };
        let text = message(level, &self.settings.tag, line);
        match way {
            Way::Udp(socket) => socket.send(text.as_bytes()).map(drop),
            Way::Tcp(stream) => stream.write_all(format!("{text}\n").as_bytes()),
            #[cfg(unix)]
            Way::Local(socket) => socket.send(text.as_bytes()).map(drop),
        }
    }
}

fn message(level: &Level, tag: &str, line: &str) -> String {
    let severity = match *level {
        Level::ERROR => 3,
        Level::WARN => 4,
        Level::INFO => 6,
        _ => 7,
    };
    let (stamp, pid) = (now("%b %e %H:%M:%S"), std::process::id());
    let tag = if tag.is_empty() { "kuiperd" } else { tag };
    format!("<{}>{stamp} {tag}[{pid}]: {}", USER + severity, line.trim_end())
}

fn open(s: &Settings) -> io::Result<Way> {
    if s.address.is_empty() {
        return local();
    }
    let mut places = s.address.to_socket_addrs()?;
    let place = places.next().ok_or_else(|| io::Error::other("the address leads nowhere"))?;
    if s.network.starts_with("tcp") {
        let stream = TcpStream::connect_timeout(&place, WITHIN)?;
        stream.set_write_timeout(Some(WITHIN))?;
        return Ok(Way::Tcp(stream));
    }
    let socket = UdpSocket::bind(if place.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" })?;
    socket.connect(place)?;
    Ok(Way::Udp(socket))
}

#[cfg(unix)]
fn local() -> io::Result<Way> {
    let socket = UnixDatagram::unbound()?;
    socket.set_nonblocking(true)?;
    let mut last = io::Error::other("no syslog daemon runs here");
    for path in ["/dev/log", "/var/run/syslog", "/var/run/log"] {
        match socket.connect(path) {
            Ok(()) => return Ok(Way::Local(socket)),
            Err(e) => last = e,
        }
    }
    Err(last)
}

#[cfg(not(unix))]
fn local() -> io::Result<Way> {
    Err(io::Error::other("basic.syslog.address is needed on this system"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(network: &str, address: String) -> Settings {
        let (network, level, tag) = (network.into(), "info".into(), "edge".into());
        Settings { enable: true, network, address, level, tag }
    }

    #[test]
    fn a_line_goes_out_with_priority_and_tag() {
        let daemon = UdpSocket::bind("127.0.0.1:0").unwrap();
        daemon.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let address = daemon.local_addr().unwrap().to_string();
        let mut syslog = Syslog::new(&settings("udp", address)).unwrap();
        syslog.write(&Level::WARN, "level=warning msg=hot\n").unwrap();
        let mut buffer = [0; 500];
        let size = daemon.recv(&mut buffer).unwrap();
        let text = String::from_utf8_lossy(&buffer[..size]).into_owned();
        assert!(text.starts_with("<12>"), "{text}");
        let end = format!("edge[{}]: level=warning msg=hot", std::process::id());
        assert!(text.ends_with(&end), "{text}");
    }

    #[test]
    fn a_daemon_that_is_not_there_is_asked_again_only_later() {
        let mut syslog = Syslog::new(&settings("tcp", "127.0.0.1:1".into())).unwrap();
        assert!(syslog.write(&Level::INFO, "a").is_err());
        assert!(syslog.write(&Level::INFO, "b").is_ok(), "not tried, so no fault");
    }
}
