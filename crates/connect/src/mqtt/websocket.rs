//! MQTT in the binary messages of a WebSocket (`ws://`, `wss://`): where a message begins and ends
//! means nothing, it is a stream of bytes.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use futures_util::{Sink, Stream};
use http::HeaderValue;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_tungstenite::tungstenite::{Error, Message};

use super::ClientOptions;
use super::stream::Transport;
use crate::ConnectError;

/// Largest message that is read; a broker sends many packets in one.
const MESSAGE_BYTES_MAX: usize = 64 << 20;

/// See the module's doc.
pub struct Bytestream {
    socket: WebSocketStream<Box<dyn Transport>>,
    /// What of the last message is not read yet.
    left: Bytes,
    /// Bytes that are on their way and not yet told to have been written.
    sending: Option<usize>,
}

/// Makes a WebSocket of a connection.
pub async fn connect(
    options: &ClientOptions,
    path: &str,
    pipe: Box<dyn Transport>,
) -> Result<Bytestream, ConnectError> {
    let scheme = if options.tls { "wss" } else { "ws" };
    let host = match options.host.contains(':') {
        true => format!("[{}]", options.host),
        false => options.host.clone(),
    };
    let url = format!("{scheme}://{host}:{}{path}", options.port);
    let wrong = |e: Error| ConnectError::config(format!("property server {url}: {e}"));
    let mut request = url.as_str().into_client_request().map_err(wrong)?;
    let protocol = HeaderValue::from_static("mqtt");
    request.headers_mut().insert("sec-websocket-protocol", protocol);
    let limits = WebSocketConfig::default()
        .max_message_size(Some(MESSAGE_BYTES_MAX))
        .max_frame_size(Some(MESSAGE_BYTES_MAX));
    let made = tokio_tungstenite::client_async_with_config(request, pipe, Some(limits)).await;
    let (socket, _) = made.map_err(|e| ConnectError::io(format!("no websocket at {url}: {e}")))?;
    Ok(Bytestream { socket, left: Bytes::new(), sending: None })
}

fn lost(e: Error) -> io::Error {
    match e {
        Error::Io(e) => e,
        other => io::Error::other(other),
    }
}

impl AsyncRead for Bytestream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while self.left.is_empty() {
            match ready!(Pin::new(&mut self.socket).poll_next(cx)) {
                None | Some(Ok(Message::Close(_))) => return Poll::Ready(Ok(())),
                Some(Ok(Message::Binary(bytes))) => self.left = bytes,
                Some(Ok(_)) => {}
                Some(Err(e)) => return Poll::Ready(Err(lost(e))),
            }
        }
        let n = self.left.len().min(buf.remaining());
        buf.put_slice(&self.left.split_to(n));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for Bytestream {
    /// Ready only when the bytes have left, so that nobody needs to flush.
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        if self.sending.is_none() {
            ready!(Pin::new(&mut self.socket).poll_ready(cx)).map_err(lost)?;
            let message = Message::Binary(Bytes::copy_from_slice(buf));
            Pin::new(&mut self.socket).start_send(message).map_err(lost)?;
            self.sending = Some(buf.len());
        }
        ready!(Pin::new(&mut self.socket).poll_flush(cx)).map_err(lost)?;
        Poll::Ready(Ok(self.sending.take().unwrap_or_default().min(buf.len())))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx).map_err(lost)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_close(cx).map_err(lost)
    }
}

#[cfg(test)]
mod tests {
    use futures_util::{SinkExt, StreamExt};
    use rekuiper_broker::{Broker, BrokerConfig};
    use rekuiper_rt::task;
    use serde_json::json;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio_tungstenite::tungstenite::handshake::server::{Request, Response};

    use super::*;
    use crate::testing::{World, payloads, props, sink_of, source_of};

    /// Hands MQTT over WebSockets on to a broker, a few bytes a message.
    async fn bridge(tcp: TcpStream, to: std::net::SocketAddr) {
        #[expect(clippy::result_large_err, reason = "the library asks for this form")]
        let hello = |request: &Request, mut response: Response| {
            assert_eq!(request.uri().path(), "/mqtt");
            let asked = request.headers()["sec-websocket-protocol"].clone();
            response.headers_mut().insert("sec-websocket-protocol", asked);
            Ok(response)
        };
        let mut socket = tokio_tungstenite::accept_hdr_async(tcp, hello).await.unwrap();
        let (mut read, mut write) = TcpStream::connect(to).await.unwrap().into_split();
        let mut part = [0; 7];
        loop {
            tokio::select! {
                message = socket.next() => match message {
                    Some(Ok(Message::Binary(bytes))) => write.write_all(&bytes).await.unwrap(),
                    Some(Ok(_)) => {}
                    _ => return,
                },
                n = read.read(&mut part) => match n {
                    Ok(n) if n > 0 => {
                        let message = Message::Binary(Bytes::copy_from_slice(&part[..n]));
                        if socket.send(message).await.is_err() {
                            return;
                        }
                    }
                    _ => return,
                },
            }
        }
    }

    #[tokio::test]
    async fn messages_go_both_ways() {
        let listeners = vec!["127.0.0.1:0".parse().unwrap()];
        let settings = BrokerConfig { listeners, ..BrokerConfig::default() };
        let broker = Broker::start(settings).await.unwrap();
        let to = broker.local_addrs()[0];
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let server = format!("ws://{}/mqtt", listener.local_addr().unwrap());
        let _bridges = task::spawn("bridges", async move {
            while let Ok((tcp, _)) = listener.accept().await {
                task::spawn("bridge", bridge(tcp, to)).detach();
            }
        });
        let world = World::new();
        let conf = json!({"server": server, "topic": "in/x", "qos": 1});
        let mut running =
            world.run(source_of(super::super::source::open("in/#", &props(conf.clone()))));
        while running.status.state() != 1 {
            tokio::task::yield_now().await;
        }
        let mut sink = sink_of(super::super::sink::open(&props(conf)));
        sink.open(&world.sink_cx()).await.unwrap();
        let long = "x".repeat(100_000);
        let texts = ["one", &long, "three"];
        // the subscription may come after the first publish, the client after the first try
        let mut got = Vec::new();
        while got.len() < 3 {
            if got.is_empty() {
                let _ = sink.write(&payloads(&texts, vec![]), 0).await;
            }
            tokio::select! {
                more = running.texts() => got.extend(more),
                () = tokio::time::sleep(std::time::Duration::from_millis(50)) => {}
            }
        }
        assert_eq!(got[..3], texts.map(str::to_owned));
        broker.shutdown().await;
    }
}
