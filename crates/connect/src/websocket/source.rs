//! The source: each text message is one message of the stream.

use bytes::Bytes;
use futures_util::StreamExt;
use tokio_tungstenite::tungstenite::Message;

use super::client::{Peer, Place, Socket};
use crate::data_server::{self, deliver_to, message};
use crate::traits::{BoxFuture, Opened, Source, SourceCx, SourceOut, Stopped};
use crate::{ConnectError, Props};

/// Pauses between tries to connect, in milliseconds.
const PAUSE_MS: i64 = 100;
const PAUSE_MS_MAX: i64 = 10_000;

pub fn open(datasource: &str, props: &Props) -> Result<Opened, ConnectError> {
    let path = match datasource {
        "" => props.str_or("path", "")?,
        path => path,
    };
    Ok(Opened::Source(Box::new(WebSocketSource { place: Place::new(path, props)? })))
}

struct WebSocketSource {
    place: Place,
}

impl Source for WebSocketSource {
    fn run<'a>(
        self: Box<Self>,
        cx: SourceCx,
        out: SourceOut,
    ) -> BoxFuture<'a, Result<(), ConnectError>> {
        Box::pin(async move {
            match self.place {
                Place::Here(path) => serve(&path, cx, out).await,
                Place::There(peer) => {
                    let stopped = out.tx.clone();
                    tokio::select! {
                        _ = listen(&peer, &cx, out) => {}
                        () = stopped.closed() => {}
                    }
                    Ok(())
                }
            }
        })
    }
}

async fn serve(path: &str, cx: SourceCx, out: SourceOut) -> Result<(), ConnectError> {
    let tx = out.tx.clone();
    let to = deliver_to(out, cx.clock.clone());
    let _registration = data_server::of(&cx.services)?
        .socket(path, Some(to))
        .map_err(ConnectError::config)?;
    cx.status.connected(cx.clock.now_ms());
    tx.closed().await;
    Ok(())
}

/// Connects and reads, for ever.
async fn listen(peer: &Peer, cx: &SourceCx, out: SourceOut) -> Result<(), Stopped> {
    let mut pause = PAUSE_MS;
    loop {
        cx.status.trying(cx.clock.now_ms());
        let why = match peer.connect(&cx.clock).await {
            Ok(socket) => {
                cx.status.connected(cx.clock.now_ms());
                pause = PAUSE_MS;
                read(socket, cx, &out).await?
            }
            Err(e) => e.text,
        };
        // one exception for each loss, not one for each try
        let was_up = cx.status.state() != -1;
        cx.status.disconnected(cx.clock.now_ms(), &why);
        if was_up {
            out.error(format!("disconnected: {why}")).await?;
        }
        cx.clock.sleep_ms(pause).await;
        pause = (pause * 3 / 2).min(PAUSE_MS_MAX);
    }
}

/// Reads until the connection ends: why it did.
async fn read(mut socket: Socket, cx: &SourceCx, out: &SourceOut) -> Result<String, Stopped> {
    loop {
        match socket.next().await {
            Some(Ok(Message::Text(text))) => {
                let bytes = Bytes::from(text);
                out.send(message(bytes, cx.clock.now_ms())).await?;
            }
            Some(Ok(Message::Close(frame))) => {
                let code = frame.map_or(1005, |f| u16::from(f.code));
                return Ok(format!("websocket: close {code}"));
            }
            Some(Ok(_)) => {}
            Some(Err(e)) => return Ok(format!("websocket: {e}")),
            None => return Ok("websocket: close 1006".to_string()),
        }
    }
}
