//! A connection to a WebSocket server.

use std::sync::Arc;

use http::{HeaderName, HeaderValue, Request};
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;

use crate::{ConnectError, Props, data_server, tls};
use rekuiper_rt::Clock;

const HANDSHAKE_MS: i64 = 3_000;

/// Largest message that is read.
const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// Anything that carries bytes both ways.
pub trait Pipe: AsyncRead + AsyncWrite + Send + Unpin {}
impl<T: AsyncRead + AsyncWrite + Send + Unpin> Pipe for T {}

pub type Socket = WebSocketStream<Box<dyn Pipe>>;

/// Where a websocket connector talks.
pub enum Place {
    /// A path of the data server.
    Here(String),
    There(Box<Peer>),
}

pub struct Peer {
    addr: String,
    host: String,
    request: Request<()>,
    tls: Option<Arc<ClientConfig>>,
}

impl Place {
    pub fn new(path: &str, props: &Props) -> Result<Place, ConnectError> {
        let path = data_server::path(path, "websocket")?;
        let addr = props.str_or("addr", "")?;
        if addr.is_empty() {
            return Ok(Place::Here(path.to_owned()));
        }
        let scheme = props.str_or("scheme", "ws")?;
        let tls = match scheme {
            "ws" => None,
            "wss" => Some(tls::client_config(props)?),
            other => {
                return Err(ConnectError::config(format!(
                    "property scheme must be ws or wss, found {other}"
                )));
            }
        };
        let wrong = |e: &dyn std::fmt::Display| {
            ConnectError::config(format!("{scheme}://{addr}{path} is not valid: {e}"))
        };
        let mut request = format!("{scheme}://{addr}{path}")
            .into_client_request()
            .map_err(|e| wrong(&e))?;
        for (name, values) in props.map("requestHeader")? {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|e| wrong(&e))?;
            let values = match values {
                serde_json::Value::Array(values) => values,
                one => vec![one],
            };
            for value in values {
                let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                let value = HeaderValue::from_str(&text).map_err(|e| wrong(&e))?;
                request.headers_mut().append(name.clone(), value);
            }
        }
        let host = request.uri().host().unwrap_or_default();
        let host = host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let port = request.uri().port_u16().unwrap_or(if tls.is_some() { 443 } else { 80 });
        let addr = match host.contains(':') {
            true => format!("[{host}]:{port}"),
            false => format!("{host}:{port}"),
        };
        Ok(Place::There(Box::new(Peer { addr, host, request, tls })))
    }
}

impl Peer {
    pub async fn connect(&self, clock: &Clock) -> Result<Socket, ConnectError> {
        tokio::select! {
            done = self.handshake() => done,
            () = clock.sleep_ms(HANDSHAKE_MS) => Err(ConnectError::io(format!(
                "websocket {}: no answer within {HANDSHAKE_MS} ms", self.request.uri()
            ))),
        }
    }

    async fn handshake(&self) -> Result<Socket, ConnectError> {
        let url = self.request.uri();
        let tcp = TcpStream::connect(&self.addr).await;
        let tcp = tcp.map_err(|e| ConnectError::io(format!("websocket {url}: {e}")))?;
        let _ = tcp.set_nodelay(true);
        let pipe: Box<dyn Pipe> = match &self.tls {
            None => Box::new(tcp),
            Some(config) => {
                let name = ServerName::try_from(self.host.clone())
                    .map_err(|e| ConnectError::config(format!("websocket {url}: {e}")))?;
                let stream = TlsConnector::from(config.clone()).connect(name, tcp).await;
                Box::new(stream.map_err(|e| ConnectError::io(format!("websocket {url}: {e}")))?)
            }
        };
        let limits = WebSocketConfig::default()
            .max_message_size(Some(MESSAGE_BYTES_MAX))
            .max_frame_size(Some(MESSAGE_BYTES_MAX));
        let request = self.request.clone();
        tokio_tungstenite::client_async_with_config(request, pipe, Some(limits))
            .await
            .map(|(socket, _)| socket)
            .map_err(|e| ConnectError::io(format!("websocket {url}: {e}")))
    }
}
