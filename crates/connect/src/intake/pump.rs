//! What happens to messages between a source and its stream, tick by tick.

use std::collections::VecDeque;
use std::sync::Arc;

use rekuiper_formats::codec::Compression;
use rekuiper_rt::Clock;
use rekuiper_value::batch::RawBatch;
use rekuiper_value::{Error, Object, Str, Value, json};

use super::inner::Inner;
use super::messages::{each, elements, first};
use crate::traits::{SourceItem, SourceOut, Stopped};

/// Largest message after decompression.
const MESSAGE_BYTES_MAX: usize = 64 << 20;
/// Most different values of `mergeField` in one tick; a further one takes the place of the oldest.
const FRAMES_MAX: usize = 4096;

/// One message or row that waits for the tick, with the value of `mergeField`.
type Frame = (Option<Value>, RawBatch);

/// What the properties ask for.
pub(super) struct Asked {
    /// Zero: messages go on as they come.
    pub interval_ms: i64,
    pub merge: Option<Str>,
    pub unpack: Option<Compression>,
    pub inner: Option<Inner>,
    pub pause_ms: i64,
}

pub(super) struct Pump<'a> {
    out: &'a SourceOut,
    pub clock: Clock,
    start_ms: i64,
    asked: Asked,
    held: VecDeque<Frame>,
    /// Messages since the last tick that others took the place of, or took in.
    skipped: u64,
    /// When what is held goes on.
    pub due_ms: Option<i64>,
}

impl<'a> Pump<'a> {
    pub fn new(asked: Asked, out: &'a SourceOut, clock: Clock) -> Self {
        let start_ms = clock.now_ms();
        Pump { out, clock, start_ms, asked, held: VecDeque::new(), skipped: 0, due_ms: None }
    }

    pub async fn take(&mut self, item: SourceItem) -> Result<(), Stopped> {
        let batch = match item {
            SourceItem::Batch(batch) if !batch.is_empty() => batch,
            SourceItem::Batch(_) => return Ok(()),
            SourceItem::Error(error) => return self.out.error(&*error.0).await,
            SourceItem::Skipped(messages) => return self.out.skipped(messages).await,
        };
        if self.asked.interval_ms == 0 {
            return self.unpacked(batch).await;
        }
        match self.asked.merge.clone() {
            None => {
                self.skipped += (self.held.len() + batch.len() - 1) as u64;
                self.held.clear();
                self.held.extend(batch.split(1).pop().map(|last| (None, last)));
            }
            Some(field) => {
                let batch = self.unzip(batch).await?;
                for one in batch.split(1) {
                    self.frame(&field, one).await?;
                }
            }
        }
        let (now, step) = (self.clock.now_ms(), self.asked.interval_ms);
        let next = || now + step - (now - self.start_ms).rem_euclid(step);
        self.due_ms.get_or_insert_with(next);
        Ok(())
    }

    /// Keeps a message in the place of the one before with that value of the field.
    async fn frame(&mut self, field: &Str, one: RawBatch) -> Result<(), Stopped> {
        let row = match first(&one).map(json::parse) {
            Some(Ok(Value::Object(row))) => row,
            _ => return self.out.error("mergeField works on JSON objects, found another").await,
        };
        let Some(key) = row.get(field.as_str()).cloned() else {
            return self.out.error(format!("a message has no field {field} (mergeField)")).await;
        };
        let same = self.held.iter_mut().find(|(held, _)| held.as_ref() == Some(&key));
        match same {
            Some((_, held)) => {
                *held = one;
                self.skipped += 1;
            }
            None => {
                if self.held.len() >= FRAMES_MAX {
                    self.held.pop_front();
                    self.skipped += 1;
                }
                self.held.push_back((Some(key), one));
            }
        }
        Ok(())
    }

    pub async fn tick(&mut self) -> Result<(), Stopped> {
        self.due_ms = None;
        let held = std::mem::take(&mut self.held);
        // one row comes of all that is held
        let skipped = std::mem::take(&mut self.skipped) + (held.len() as u64).saturating_sub(1);
        if skipped > 0 {
            self.out.skipped(skipped).await?;
        }
        if self.asked.merge.is_none() {
            for (_, batch) in held {
                self.unpacked(batch).await?;
            }
            return Ok(());
        }
        let mut merged = Object::new();
        for (_, batch) in &held {
            if let Some(Ok(Value::Object(row))) = first(batch).map(json::parse) {
                merged.extend(row.iter().map(|(k, v)| (k.clone(), v.clone())));
            }
        }
        let Some((_, last)) = held.back() else { return Ok(()) };
        let acks: Vec<_> = held.iter().filter_map(|(_, batch)| batch.ack.clone()).collect();
        let mut batch = last.clone();
        let Ok(text) = json::to_string(&Value::object(merged)) else { return Ok(()) };
        batch = each(batch, |_, out| {
            out.push(text.clone().into_bytes());
            Ok(())
        })
        .0;
        // the row owes an acknowledgement for each message that went into it
        batch.ack = (!acks.is_empty()).then(|| Arc::new(acks) as _);
        self.decoded(batch).await
    }

    async fn unpacked(&mut self, batch: RawBatch) -> Result<(), Stopped> {
        let batch = self.unzip(batch).await?;
        self.decoded(batch).await
    }

    async fn unzip(&mut self, batch: RawBatch) -> Result<RawBatch, Stopped> {
        let Some(packed) = self.asked.unpack else { return Ok(batch) };
        let (batch, errors) = each(batch, |message, out| {
            let mut plain = Vec::new();
            packed.decompress(message, MESSAGE_BYTES_MAX, &mut plain)?;
            out.push(plain);
            Ok(())
        });
        self.tell(errors).await?;
        Ok(batch)
    }

    async fn decoded(&mut self, mut batch: RawBatch) -> Result<(), Stopped> {
        if let Some(inner) = &self.asked.inner {
            let (done, errors) = each(batch, |message, out| inner.open(message, out));
            self.tell(errors).await?;
            batch = done;
        }
        if self.asked.pause_ms == 0 {
            return self.send(batch).await;
        }
        let (batch, errors) = each(batch, elements);
        self.tell(errors).await?;
        for (n, one) in batch.split(1).into_iter().enumerate() {
            if n > 0 {
                self.clock.sleep_ms(self.asked.pause_ms).await;
            }
            self.send(one).await?;
        }
        Ok(())
    }

    async fn send(&self, batch: RawBatch) -> Result<(), Stopped> {
        match batch.is_empty() {
            true => Ok(()),
            false => self.out.send(batch).await,
        }
    }

    async fn tell(&self, errors: Vec<Error>) -> Result<(), Stopped> {
        for error in errors {
            self.out.error(&*error.0).await?;
        }
        Ok(())
    }
}
