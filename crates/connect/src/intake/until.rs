//! A source that ends with a certain message.

use std::pin::pin;
use std::sync::Arc;

use rekuiper_rt::limits::SOURCE_QUEUE_ROWS_MAX;
use rekuiper_rt::queue;
use rekuiper_value::batch::{Payloads, RawBatch};

use super::messages::part;
use crate::traits::{BoxFuture, Source, SourceCx, SourceItem, SourceOut};
use crate::{ConnectError, Position, Services};

/// A source that ends with the first message that is `eof`; the message itself does not go on.
pub fn until(source: Box<dyn Source>, eof: Vec<u8>) -> Box<dyn Source> {
    Box::new(Until { source, eof })
}

struct Until {
    source: Box<dyn Source>,
    eof: Vec<u8>,
}

impl Source for Until {
    fn check(&self, services: &Services) -> Result<(), ConnectError> {
        self.source.check(services)
    }

    fn position(&self) -> Option<Arc<dyn Position>> {
        self.source.position()
    }

    fn run<'a>(
        self: Box<Self>,
        cx: SourceCx,
        out: SourceOut,
    ) -> BoxFuture<'a, Result<(), ConnectError>> {
        Box::pin(async move {
            let name = format!("end of {}", cx.stream);
            let (tx, mut rx) = queue::bounded(name, SOURCE_QUEUE_ROWS_MAX, usize::MAX);
            let mut reading = pin!(self.source.run(cx, SourceOut { tx }));
            loop {
                let item = tokio::select! {
                    biased;
                    () = out.tx.closed() => return Ok(()),
                    item = rx.recv() => item,
                    end = &mut reading => return end,
                };
                let mut batch = match item {
                    Some(SourceItem::Batch(batch)) => batch,
                    None => return Ok(()),
                    Some(other) => match out.tx.send(other).await {
                        Ok(()) => continue,
                        Err(_) => return Ok(()),
                    },
                };
                let last = cut(&mut batch, &self.eof);
                let sent = batch.is_empty() || out.send(batch).await.is_ok();
                if last || !sent {
                    return Ok(());
                }
            }
        })
    }
}

/// Cuts a batch off at the message that ends it; whether it was there.
fn cut(batch: &mut RawBatch, eof: &[u8]) -> bool {
    let Payloads::Bytes { bytes, msgs } = &mut batch.payloads else { return false };
    let at = msgs.iter().position(|msg| part(bytes, msg.payload) == eof);
    msgs.truncate(at.unwrap_or(msgs.len()));
    at.is_some()
}
