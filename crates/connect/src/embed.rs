//! `$embed`: a source and a sink for whoever holds the engine inside a process of their own:
//! batches are pushed in and results come out through bounded queues, without a socket or a file:
//! as encoded payloads, a batch at a time or one by one, or as columns where the sink's `rows` says
//! so. Not for users: its name cannot be typed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use rekuiper_value::batch::{RawBatch, SourceColumns};
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

/// Who listens to a rule.
enum Listener {
    Payloads(mpsc::Sender<Results>),
    Texts(mpsc::Sender<String>),
    Columns(mpsc::Sender<Arc<SourceColumns>>),
}

/// Queues that wait for their stream or rule.
#[derive(Default)]
pub struct Embedded {
    inlets: Mutex<HashMap<String, mpsc::Receiver<RawBatch>>>,
    outlets: Mutex<HashMap<String, Listener>>,
}

impl Embedded {
    /// The stream of that name reads from this queue once it starts; its data end with the sender.
    pub fn feed(&self, stream: &str, from: mpsc::Receiver<RawBatch>) {
        self.inlets.lock().unwrap_or_else(|e| e.into_inner()).insert(stream.to_owned(), from);
    }

    /// The next `$embed` sink of that rule sends to this queue, waiting while it is full.
    pub fn collect(&self, rule: &str, to: mpsc::Sender<Results>) {
        self.listen(rule, Listener::Payloads(to));
    }

    /// The same, one payload after the other (the live results of a trial run).
    pub fn collect_texts(&self, rule: &str, to: mpsc::Sender<String>) {
        self.listen(rule, Listener::Texts(to));
    }

    /// The same for a sink whose `rows` is true.
    pub fn collect_columns(&self, rule: &str, to: mpsc::Sender<Arc<SourceColumns>>) {
        self.listen(rule, Listener::Columns(to));
    }

    fn listen(&self, rule: &str, to: Listener) {
        self.outlets.lock().unwrap_or_else(|e| e.into_inner()).insert(rule.to_owned(), to);
    }

    fn take_inlet(&self, stream: &str) -> Option<mpsc::Receiver<RawBatch>> {
        self.inlets.lock().unwrap_or_else(|e| e.into_inner()).remove(stream)
    }

    fn take_outlet(&self, rule: &str) -> Option<Listener> {
        self.outlets.lock().unwrap_or_else(|e| e.into_inner()).remove(rule)
    }
}

fn source(_datasource: &str, props: &Props) -> Result<Opened, ConnectError> {
    Ok(Opened::Source(Box::new(Inlet { rows: props.bool("rows", false)? })))
}

fn sink(props: &Props) -> Result<Opened, ConnectError> {
    Ok(Opened::Sink(Box::new(Outlet { rows: props.bool("rows", false)?, to: None })))
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
    rows: bool,
    to: Option<Listener>,
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
            // a listener that went away misses what comes
            match (&self.to, &batch.data) {
                (None, _) => {}
                (Some(Listener::Payloads(to)), SinkData::Bytes { buf, ends, .. }) => {
                    let _ = to.send(Results::from(buf, ends, from)).await;
                }
                (Some(Listener::Texts(to)), SinkData::Bytes { .. }) => {
                    for i in from..batch.len() {
                        let text = String::from_utf8_lossy(batch.payload(i)).into_owned();
                        if to.send(text).await.is_err() {
                            break;
                        }
                    }
                }
                (Some(Listener::Columns(to)), SinkData::Columns(parts)) => {
                    let mut before = 0;
                    for part in parts {
                        let written = from.saturating_sub(before).min(part.rows);
                        before += part.rows;
                        match written {
                            0 => drop(to.send(part.clone()).await),
                            all if all == part.rows => {}
                            some => drop(to.send(Arc::new(part.rows(some..part.rows))).await),
                        }
                    }
                }
                (Some(Listener::Payloads(_) | Listener::Texts(_)), _) => {
                    return Err(ConnectError::data("whoever listens expects encoded payloads"));
                }
                (Some(Listener::Columns(_)), _) => {
                    return Err(ConnectError::data(
                        "whoever listens expects columns: the sink needs rows: true, and no \
                         other shape of its results",
                    ));
                }
            }
            Ok(())
        })
    }

    fn takes_columns(&self) -> bool {
        self.rows
    }
}

impl Results {
    /// Payload `from` and all behind it.
    fn from(buf: &[u8], ends: &[u32], from: usize) -> Self {
        let start = if from == 0 { 0 } else { ends[from - 1] + 1 };
        let bytes = buf.get(start as usize..).unwrap_or_default().to_vec();
        Results { bytes, ends: ends[from..].iter().map(|end| end - start).collect() }
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
    async fn columns_come_out_as_they_are() {
        use rekuiper_value::{Column, Value};

        let world = World::new();
        let (tx, mut rx) = mpsc::channel(4);
        world.services.embedded.collect_columns("r", tx);
        let mut out = sink_of(sink(&props(serde_json::json!({"rows": true}))));
        assert!(out.takes_columns());
        let cx = world.sink_cx();
        out.open(&cx).await.unwrap();
        let part = |ints: &[i64]| {
            let cols = vec![Column::whole_numbers(ints.to_vec())];
            Arc::new(SourceColumns { names: ["a".into()].into(), cols, rows: ints.len() })
        };
        let data = SinkData::Columns(vec![part(&[1, 2]), part(&[3, 4, 5])]);
        let batch = SinkBatch { data, ack: None };
        assert_eq!(batch.len(), 5);
        out.write(&batch, 0).await.unwrap();
        out.write(&batch, 3).await.unwrap();
        drop(out);
        let mut seen = Vec::new();
        while let Some(part) = rx.recv().await {
            let values = (0..part.rows).map(|row| part.column("a").unwrap().value(row));
            seen.push(values.collect::<Vec<_>>());
        }
        let ints = |all: &[i64]| all.iter().map(|i| Value::Int(*i)).collect::<Vec<_>>();
        assert_eq!(seen, [ints(&[1, 2]), ints(&[3, 4, 5]), ints(&[4, 5])]);
        let refused = sink_of(sink(&props(serde_json::json!({}))));
        assert!(!refused.takes_columns());
    }

    #[tokio::test]
    async fn a_stream_that_nobody_feeds_says_so() {
        let world = World::new();
        let running = world.run(source_of(source("", &props(serde_json::json!({})))));
        let (_, end) = running.until_end().await;
        assert!(end.unwrap_err().text.contains("nobody in this process feeds stream s"));
    }
}
