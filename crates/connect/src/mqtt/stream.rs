//! The transport below MQTT: TCP, or TLS over it.

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

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
    if options.tls {
        return Err(ConnectError::config(
            "TLS to an MQTT broker is not part of this build: build with the feature `tls`",
        ));
    }
    Ok(Box::new(tcp))
}
