//! The sink: each payload is a text message, to every client that is there or to the peer.

use bytes::Bytes;
use futures_util::stream::SplitSink;
use futures_util::{SinkExt, StreamExt};
use rekuiper_rt::task::{self, Task};
use tokio_tungstenite::tungstenite::Message;

use super::client::{Place, Socket};
use crate::data_server::{self, Registration, SendAll};
use crate::traits::{BoxFuture, Opened, Sink, SinkBatch, SinkCx};
use crate::{ConnectError, Props};

pub fn open(props: &Props) -> Result<Opened, ConnectError> {
    let path = match props.str_or("datasource", "")? {
        "" => props.str_or("path", "")?,
        path => path,
    };
    let place = Place::new(path, props)?;
    Ok(Opened::Sink(Box::new(WebSocketSink { place, link: Link::None })))
}

struct WebSocketSink {
    place: Place,
    link: Link,
}

enum Link {
    None,
    Here(SendAll, #[allow(dead_code, reason = "held for its drop")] Registration),
    /// The reader answers pings and ends when the peer hangs up.
    There { to: SplitSink<Socket, Message>, reader: Task },
}

impl Sink for WebSocketSink {
    fn open<'a>(&'a mut self, cx: &'a SinkCx) -> BoxFuture<'a, Result<(), ConnectError>> {
        Box::pin(async move {
            match &self.place {
                Place::Here(path) => {
                    if matches!(self.link, Link::None) {
                        let server = data_server::of(&cx.services)?;
                        let (send, registration) =
                            server.socket(path, None).map_err(ConnectError::config)?;
                        self.link = Link::Here(send, registration);
                    }
                }
                Place::There(peer) => {
                    let (to, mut from) = peer.connect(&cx.clock).await?.split();
                    let reader = task::spawn("websocket sink", async move {
                        while let Some(Ok(_)) = from.next().await {}
                    });
                    self.link = Link::There { to, reader };
                }
            }
            cx.status.connected(cx.clock.now_ms());
            Ok(())
        })
    }

    fn write<'a>(
        &'a mut self,
        batch: &'a SinkBatch,
        from: usize,
    ) -> BoxFuture<'a, Result<(), ConnectError>> {
        Box::pin(async move {
            match &mut self.link {
                Link::None => Err(ConnectError::io("websocket: not connected")),
                Link::Here(send, _) => {
                    for i in from..batch.len() {
                        send(Bytes::copy_from_slice(batch.payload(i)));
                    }
                    Ok(())
                }
                Link::There { reader, .. } if reader.is_finished() => {
                    self.link = Link::None;
                    Err(ConnectError::io("websocket: the peer closed the connection"))
                }
                Link::There { to, .. } => {
                    for i in from..batch.len() {
                        let text = String::from_utf8_lossy(batch.payload(i)).into_owned();
                        let sent = to.feed(Message::Text(text.into())).await;
                        sent.map_err(|e| ConnectError::io(format!("websocket: {e}")))?;
                    }
                    // what was fed counts as sent only when it has left
                    let sent = to.flush().await;
                    sent.map_err(|e| ConnectError::io(format!("websocket: {e}")))
                }
            }
        })
    }

    fn close(&mut self) -> BoxFuture<'_, Result<(), ConnectError>> {
        Box::pin(async move {
            if let Link::There { mut to, .. } = std::mem::replace(&mut self.link, Link::None) {
                let _ = to.close().await; // the peer may be gone already
            }
            Ok(())
        })
    }
}
