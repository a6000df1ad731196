//! `$embed`: a source and a sink for whoever holds the engine inside a process of their own:
//! batches
//! are pushed in and encoded results come out through bounded queues, without a socket or a file.
//! Not for users: its name cannot be typed.

use std::collections::HashMap;
use std::sync::Mutex;

use rekuiper_value::batch::RawBatch;
use tokio::sync::mpsc;

use crate::traits::{BoxFuture, Opened, Sink, SinkBatch, SinkCx, SinkData, Source, SourceCx};
use crate::traits::SourceOut;
use crate::{ConnectError, ConnectorDef, Props};

pub const NAME: &str = "$embed";

pub static CONNECTOR: ConnectorDef =
    ConnectorDef { name: NAME, source: Some(source), sink: Some(sink), lookup: None };

/// Payloads of one batch: payload `i` ends at `ends[i]`, a line feed stands behind each.
#[derive(Clone, Debug, Default)]
pub struct Results {
    pub bytes: Vec<u8>,
    pub ends: Vec<u32>,
}

/// Queues that wait for their stream or rule.
#[derive(Default)]
pub struct Embedded {
    inlets: Mutex<HashMap<String, mpsc::Receiver<RawBatch>>>,
    outlets: Mutex<HashMap<String, mpsc::Sender<Results>>>,
}

impl Embedded {
    /// The stream of that name reads from this queue once it starts; its data end with the sender.
    pub fn feed(&self, stream: &str, from: mpsc::Receiver<RawBatch>) {
        self.inlets.lock().unwrap_or_else(|e| e.into_inner()).insert(stream.to_owned(), from);
    }

    /// The next `$embed` sink of that rule sends to this queue, waiting while it is full.
    pub fn collect(&self, rule: &str, to: mpsc::Sender<Results>) {
        self.outlets.lock().unwrap_or_else(|e| e.into_inner()).insert(rule.to_owned(), to);
    }

    fn take_inlet(&self, stream: &str) -> Option<mpsc::Receiver<RawBatch>> {
        self.inlets.lock().unwrap_or_else(|e| e.into_inner()).remove(stream)
    }

    fn take_outlet(&self, rule: &str) -> Option<mpsc::Sender<Results>> {
        self.outlets.lock().unwrap_or_else(|e| e.into_inner()).remove(rule)
    }
}

fn source(_datasource: &str, props: &Props) -> Result<Opened, ConnectError> {
    Ok(Opened::Source(Box::new(Inlet { rows: props.bool("rows", false)? })))
}

fn sink(_props: &Props) -> Result<Opened, ConnectError> {
    Ok(Opened::Sink(Box::new(Outlet { to: None })))
}

struct Inlet {
    rows: bool,
}

impl Source for Inlet {
    fn run<'a>(
        self: Box<Self>,
        cx: SourceCx,
        out: SourceOut,
    ) -> BoxFuture<'a, Result<(), ConnectError>> {
        Box::pin(async move {
            let Some(mut from) = cx.services.embedded.take_inlet(&cx.stream) else {
                return Err(ConnectError::config(format!(
                    "nobody in this process feeds stream {}",
                    cx.stream
                )));
            };
            cx.status.connected(cx.clock.now_ms());
            while let Some(batch) = from.recv().await {
                if out.send(batch).await.is_err() {
                    break;
                }
            }
            Ok(())
        })
    }

    fn gives_rows(&self) -> bool {
        self.rows
    }
}

struct Outlet {
    to: Option<mpsc::Sender<Results>>,
}

impl Sink for Outlet {
    fn open<'a>(&'a mut self, cx: &'a SinkCx) -> BoxFuture<'a, Result<(), ConnectError>> {
        if self.to.is_none() {
            self.to = cx.services.embedded.take_outlet(&cx.rule);
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
            let SinkData::Bytes { buf, ends, .. } = &batch.data else {
                return Err(ConnectError::data("an embedded sink takes encoded payloads, not rows"));
            };
            let start = if from == 0 { 0 } else { ends[from - 1] + 1 };
            let bytes = buf.get(start as usize..).unwrap_or_default().to_vec();
            let ends = ends[from..].iter().map(|end| end - start).collect();
            // a listener that went away misses what comes
            let _ = to.send(Results { bytes, ends }).await;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{World, payloads, props, sink_of, source_of};

    #[tokio::test]
    async fn batches_go_in_and_payloads_come_out_whole() {
        let world = World::new();
        let (tx, rx) = mpsc::channel(1);
        world.services.embedded.feed("s", rx);
        let mut running = world.run(source_of(source("", &props(serde_json::json!({})))));
        tx.send(RawBatch::of_payloads(&[b"a", b"bc"], 1)).await.unwrap();
        assert_eq!(running.texts().await, ["a", "bc"]);
        drop(tx);
        let (rest, end) = running.until_end().await;
        assert!(rest.is_empty() && end.is_ok());

        let (tx, mut rx) = mpsc::channel(4);
        world.services.embedded.collect("r", tx);
        let mut out = sink_of(sink(&props(serde_json::json!({}))));
        let cx = world.sink_cx();
        out.open(&cx).await.unwrap();
        let batch = payloads(&["one", "two", "three"], Vec::new());
        out.write(&batch, 0).await.unwrap();
        out.write(&batch, 2).await.unwrap();
        let all = rx.recv().await.unwrap();
        assert_eq!((&all.bytes[..], &all.ends[..]), (&b"one\ntwo\nthree\n"[..], &[3, 7, 13][..]));
        let last = rx.recv().await.unwrap();
        assert_eq!((&last.bytes[..], &last.ends[..]), (&b"three\n"[..], &[5][..]));
    }

    #[tokio::test]
    async fn a_stream_that_nobody_feeds_says_so() {
        let world = World::new();
        let running = world.run(source_of(source("", &props(serde_json::json!({})))));
        let (_, end) = running.until_end().await;
        assert!(end.unwrap_err().text.contains("nobody in this process feeds stream s"));
    }
}
