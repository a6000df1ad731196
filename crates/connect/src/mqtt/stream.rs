//! The transport below MQTT: TCP, TLS over it, a WebSocket over either.

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::{ClientOptions, websocket};
use crate::ConnectError;

pub trait Transport: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Transport for T {}

/// A second handle to a connection's socket, to acknowledge what has arrived.
///
/// A broker that does not switch Nagle's algorithm off (Mosquitto as it comes) holds small writes
/// back until what it wrote before is acknowledged, and the system may take 40 ms over that. Given
/// just before a read, the acknowledgement makes the broker send all it has, for that read to take.
pub struct Nudge {
    #[cfg(target_os = "linux")]
    socket: Option<std::net::TcpStream>,
}

impl Nudge {
    #[cfg(target_os = "linux")]
    fn of(tcp: &TcpStream) -> Self {
        use std::os::fd::AsFd;
        // without a descriptor to spare the broker's data come later, that is all
        let twin = tcp.as_fd().try_clone_to_owned().ok();
        Nudge { socket: twin.map(Into::into) }
    }

    #[cfg(not(target_os = "linux"))]
    fn of(_tcp: &TcpStream) -> Self {
        Nudge {}
    }

    pub fn acknowledge(&self) {
        #[cfg(target_os = "linux")]
        if let Some(socket) = &self.socket {
            use std::os::linux::net::TcpStreamExt;
            // off again: what is read next needs no acknowledgement of its own, it gets one before
            // the next read. A socket that refuses this is broken, and its reader will notice.
            let _ = socket.set_quickack(true).and_then(|()| socket.set_quickack(false));
        }
    }
}

pub async fn connect(
    options: &ClientOptions,
) -> Result<(Box<dyn Transport>, Nudge), ConnectError> {
    let address = options.address();
    let tcp = TcpStream::connect(&address)
        .await
        .map_err(|e| ConnectError::io(format!("cannot reach {address}: {e}")))?;
    // publishes are batched before they are written; waiting for more would only delay them
    let _ = tcp.set_nodelay(true);
    let nudge = Nudge::of(&tcp);
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
        None => (pipe, nudge),
        Some(path) => (Box::new(websocket::connect(options, path, pipe).await?), nudge),
    })
}
