//! The transport below MQTT: TCP, or TLS over it.

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::pki_types::ServerName;

use super::ClientOptions;
use crate::ConnectError;

pub trait Transport: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Transport for T {}

pub async fn connect(options: &ClientOptions) -> Result<Box<dyn Transport>, ConnectError> {
    let address = options.address();
    let tcp = TcpStream::connect(&address)
        .await
        .map_err(|e| ConnectError::io(format!("cannot reach {address}: {e}")))?;
    // publishes are batched before they are written; waiting for more would only delay them
    let _ = tcp.set_nodelay(true);
    let Some(tls) = &options.tls_config else { return Ok(Box::new(tcp)) };
    let bad = |_| ConnectError::config(format!("{} is no name for a certificate", options.host));
    let name = ServerName::try_from(options.host.clone()).map_err(bad)?;
    let secure = TlsConnector::from(tls.clone())
        .connect(name, tcp)
        .await
        .map_err(|e| ConnectError::io(format!("no TLS with {address}: {e}")))?;
    Ok(Box::new(secure))
}
