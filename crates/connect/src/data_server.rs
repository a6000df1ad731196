//! The shared data server as connectors see it: paths on one port, for requests, server-sent events
//! and WebSocket. Whoever holds the port implements it.

use std::any::Any;
use std::sync::Arc;

use bytes::Bytes;
use http::Method;
use rekuiper_value::batch::{Msg, MsgMeta, Payloads, RawBatch};

use crate::traits::{BoxFuture, SourceOut};
use crate::{ConnectError, Services};
use rekuiper_rt::Clock;

/// Takes what a client sent; while it waits, the client waits.
pub type Deliver = Arc<dyn Fn(Bytes) -> BoxFuture<'static, ()> + Send + Sync>;

/// Sends to all clients that are there; says how many.
pub type SendAll = Arc<dyn Fn(Bytes) -> usize + Send + Sync>;

/// Frees its path when dropped.
pub struct Registration {
    _held: Box<dyn Any + Send + Sync>,
}

impl Registration {
    pub fn new(held: impl Any + Send + Sync) -> Self {
        Registration { _held: Box::new(held) }
    }
}

/// See the module's doc. Errors are texts for users: the path is bad, or in use for something else.
pub trait DataServer: Send + Sync {
    /// Bodies of requests of one method; all who registered get each.
    fn push(&self, path: &str, method: Method, to: Deliver) -> Result<Registration, String>;

    /// Server-sent events.
    fn events(&self, path: &str) -> Result<(SendAll, Registration), String>;

    /// WebSocket: what is sent goes to every client, what clients send goes to `to`.
    fn socket(&self, path: &str, to: Option<Deliver>) -> Result<(SendAll, Registration), String>;
}

/// The data server of this process.
pub fn of(services: &Services) -> Result<&dyn DataServer, ConnectError> {
    match services.data_server.get() {
        Some(server) => Ok(&**server),
        None => Err(ConnectError::config("this process has no data server")),
    }
}

/// A path as users give it.
pub fn path<'a>(path: &'a str, of: &str) -> Result<&'a str, ConnectError> {
    if path.starts_with('/') {
        return Ok(path);
    }
    Err(ConnectError::config(format!("the path of {of} must begin with a slash, found {path:?}")))
}

/// Hands each message to a source's stream.
pub fn deliver_to(out: SourceOut, clock: Clock) -> Deliver {
    let out = Arc::new(out);
    Arc::new(move |bytes| {
        let (out, ts) = (out.clone(), clock.now_ms());
        Box::pin(async move {
            // a stream that has stopped takes nothing more; its registration goes with it
            let _ = out.send(message(bytes, ts)).await;
        })
    })
}

/// A batch of one message.
pub fn message(bytes: Bytes, ts: i64) -> RawBatch {
    let msgs = vec![Msg { payload: (0, bytes.len() as u32), meta: MsgMeta::default() }];
    RawBatch { payloads: Payloads::Bytes { bytes, msgs }, meta: None, ts, ack: None }
}
