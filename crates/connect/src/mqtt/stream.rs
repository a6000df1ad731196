//! The transport below MQTT: TCP, TLS over it, a WebSocket over either.

use rekuiper_rt::limits::READ_BUFFER_BYTES;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::{ClientOptions, websocket};
use crate::ConnectError;

pub trait Transport: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Transport for T {}

/// A second handle to a connection's socket, for what the first one cannot be asked.
pub struct Twin {
    /// None: no descriptor was to spare. Data come later then and wake us more often, that is all.
    #[cfg(target_os = "linux")]
    socket: Option<std::net::TcpStream>,
}

#[cfg(target_os = "linux")]
mod lowat {
    use nix::{libc, setsockopt_impl, sockopt_impl};

    sockopt_impl!(
        /// Data wake their reader from so many bytes on.
        RcvLowat,
        SetOnly,
        libc::SOL_SOCKET,
        libc::SO_RCVLOWAT,
        i32
    );
}

impl Twin {
    #[cfg(target_os = "linux")]
    fn of(tcp: &TcpStream) -> Self {
        use std::os::fd::AsFd;
        let twin = tcp.as_fd().try_clone_to_owned().ok();
        Twin { socket: twin.map(Into::into) }
    }

    #[cfg(not(target_os = "linux"))]
    fn of(_tcp: &TcpStream) -> Self {
        Twin {}
    }

    /// Acknowledges what has arrived.
    ///
    /// A broker that does not switch Nagle's algorithm off (Mosquitto as it comes) holds small
    /// writes back until what it wrote before is acknowledged, and the system may take 40 ms over
    /// that. Given just before a read, the acknowledgement makes the broker send all it has, for
    /// that read to take.
    pub fn acknowledge(&self) {
        #[cfg(target_os = "linux")]
        if let Some(socket) = &self.socket {
            use std::os::linux::net::TcpStreamExt;
            // off again: what is read next needs no acknowledgement of its own, it gets one before
            // the next read. A socket that refuses this is broken, and its reader will notice.
            let _ = socket.set_quickack(true).and_then(|()| socket.set_quickack(false));
        }
    }

    /// Data shall not wake the thread for now: nobody reads them yet, and to be woken for nothing
    /// costs as much as for something.
    pub fn quiet(&self) {
        self.wake_from(READ_BUFFER_BYTES);
    }

    /// From now on they shall, and those that are there already do.
    pub fn listen(&self) {
        self.wake_from(1);
    }

    fn wake_from(&self, _bytes: usize) {
        #[cfg(target_os = "linux")]
        if let Some(socket) = &self.socket {
            // a socket that refuses this wakes us more often
            let _ = nix::sys::socket::setsockopt(socket, lowat::RcvLowat, &(_bytes as i32));
        }
    }
}

pub async fn connect(
    options: &ClientOptions,
) -> Result<(Box<dyn Transport>, Twin), ConnectError> {
    let address = options.address();
    let tcp = TcpStream::connect(&address)
        .await
        .map_err(|e| ConnectError::io(format!("cannot reach {address}: {e}")))?;
    // publishes are batched before they are written; waiting for more would only delay them
    let _ = tcp.set_nodelay(true);
    let twin = Twin::of(&tcp);
    let pipe: Box<dyn Transport> = match &options.tls_config {
        None => Box::new(tcp),
        Some(tls) => {
            let bad =
                |_| ConnectError::config(format!("{} is no name for a certificate", options.host));
            let name = ServerName::try_from(options.host.clone()).map_err(bad)?;
            let secure = TlsConnector::from(tls.clone()).connect(name, tcp).await;
            Box::new(secure.map_err(|e| ConnectError::io(format!("no TLS with {address}: {e}")))?)
        }
    };
    Ok(match &options.websocket {
        None => (pipe, twin),
        Some(path) => (Box::new(websocket::connect(options, path, pipe).await?), twin),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    #[tokio::test]
    async fn what_came_while_it_was_quiet_is_told_when_we_listen_again() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut near = TcpStream::connect(listener.local_addr().unwrap()).await.unwrap();
        let (mut far, _) = listener.accept().await.unwrap();
        let twin = Twin::of(&near);
        let mut buf = [0; 8];
        for _ in 0..3 {
            twin.quiet();
            far.write_all(b"a packet").await.unwrap();
            twin.listen();
            twin.acknowledge();
            near.read_exact(&mut buf).await.unwrap(); // would wait for ever
            assert_eq!(&buf, b"a packet");
        }
    }
}
