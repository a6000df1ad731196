//! The source: rows of a topic, or of all topics that match a filter.

use std::sync::Arc;

use rekuiper_mqtt_codec::topic::valid_filter;
use rekuiper_rt::limits::BATCH_MESSAGES_MAX;
use rekuiper_value::batch::{Payloads, RawBatch, SourceRow};
use rekuiper_value::{Object, Str, Value};

use super::Message;
use crate::traits::{BoxFuture, Opened, Source, SourceCx, SourceOut};
use crate::{ConnectError, Props};

/// Rows that wait for a source unless `bufferLength` says otherwise.
const BUFFER_ROWS: i64 = 1024;

pub fn open(datasource: &str, props: &Props) -> Result<Opened, ConnectError> {
    let buffer = props.int("bufferLength", BUFFER_ROWS)?.max(1) as usize;
    let filter = filter(datasource, "source")?;
    Ok(Opened::Source(Box::new(MemorySource { filter, buffer })))
}

/// DATASOURCE as a filter of topics.
pub fn filter(datasource: &str, of: &str) -> Result<Str, ConnectError> {
    if valid_filter(datasource) {
        return Ok(datasource.into());
    }
    Err(ConnectError::config(format!(
        "invalid memory topic {datasource:?} of a {of}: DATASOURCE is levels divided by /, where + \
         alone stands for one level and # alone for all from there on"
    )))
}

struct MemorySource {
    filter: Str,
    buffer: usize,
}

impl Source for MemorySource {
    fn gives_rows(&self) -> bool {
        true
    }

    fn run<'a>(
        self: Box<Self>,
        cx: SourceCx,
        out: SourceOut,
    ) -> BoxFuture<'a, Result<(), ConnectError>> {
        // subscribed before the first poll: what is published right after the start is not missed
        let (subscription, mut rx) = cx.services.memory.subscribe(&self.filter, self.buffer);
        cx.status.connected(cx.clock.now_ms());
        Box::pin(async move {
            let _subscription = subscription;
            while let Some(message) = rx.recv().await {
                let meta = Arc::new(Object::from([(
                    Str::from("topic"),
                    Value::Str(message.topic.clone()),
                )]));
                for rows in message.rows.chunks(BATCH_MESSAGES_MAX) {
                    let row = |row: &super::MemoryRow| SourceRow {
                        data: row.data.clone(),
                        meta: None,
                        ts: message.ts,
                    };
                    let batch = RawBatch {
                        payloads: Payloads::Rows(rows.iter().map(row).collect()),
                        meta: Some(meta.clone()),
                        ts: message.ts,
                        ack: None,
                    };
                    if out.send(batch).await.is_err() {
                        return Ok(());
                    }
                }
            }
            Ok(())
        })
    }
}

impl Message {
    pub fn new(topic: Str, rows: Vec<super::MemoryRow>, ts: i64) -> Self {
        Message { topic, rows: Arc::new(rows), ts }
    }
}
