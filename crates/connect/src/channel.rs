//! `$channel`: a sink that hands payloads to someone inside this process (the live results of trial
//! runs). Not for users: its name cannot be typed.

use std::collections::HashMap;
use std::sync::Mutex;

use tokio::sync::mpsc;

use crate::traits::{BoxFuture, Opened, Sink, SinkBatch, SinkCx};
use crate::{ConnectError, ConnectorDef, Props};

pub const NAME: &str = "$channel";

pub static CONNECTOR: ConnectorDef =
    ConnectorDef { name: NAME, source: None, sink: Some(open), lookup: None };

/// Receivers that wait for their rule, by rule id.
#[derive(Default)]
pub struct Feeds(Mutex<HashMap<String, mpsc::Sender<String>>>);

impl Feeds {
    /// The next `$channel` sink of this rule sends to `to`.
    pub fn offer(&self, rule: &str, to: mpsc::Sender<String>) {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).insert(rule.to_owned(), to);
    }

    fn take(&self, rule: &str) -> Option<mpsc::Sender<String>> {
        self.0.lock().unwrap_or_else(|e| e.into_inner()).remove(rule)
    }
}

fn open(_props: &Props) -> Result<Opened, ConnectError> {
    Ok(Opened::Sink(Box::new(Channel { to: None })))
}

struct Channel {
    to: Option<mpsc::Sender<String>>,
}

impl Sink for Channel {
    fn open<'a>(&'a mut self, cx: &'a SinkCx) -> BoxFuture<'a, Result<(), ConnectError>> {
        if self.to.is_none() {
            self.to = cx.services.feeds.take(&cx.rule);
        }
        cx.status.connected(cx.clock.now_ms());
        Box::pin(async { Ok(()) })
    }

    fn write<'a>(
        &'a mut self,
        batch: &'a SinkBatch,
        from: usize,
    ) -> BoxFuture<'a, Result<(), ConnectError>> {
        Box::pin(async move {
            let Some(to) = &self.to else { return Ok(()) };
            for i in from..batch.len() {
                let text = String::from_utf8_lossy(batch.payload(i)).into_owned();
                // a listener that went away misses what comes
                if to.send(text).await.is_err() {
                    break;
                }
            }
            Ok(())
        })
    }
}
