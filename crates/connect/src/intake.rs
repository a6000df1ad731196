//! What every source can be asked for by its properties, done between the source and its stream:
//!
//! - `interval` of a source that is sent to: only the latest message of each tick goes on; with
//!   `mergeField` the latest for each value of that field, their members put together;
//! - `decompression` of messages;
//! - `payloadFormat`: a field that holds an encoded row is replaced by what it holds;
//! - `sendInterval`: a pause between the rows of one payload.
//!
//! A source without any of them is not wrapped at all.

use std::collections::VecDeque;
use std::pin::pin;
use std::sync::Arc;

use rekuiper_formats::codec::Compression;
use rekuiper_formats::{DecodeOptions, Decoder};
use rekuiper_rt::limits::SOURCE_QUEUE_ROWS_MAX;
use rekuiper_rt::{Clock, queue};
use rekuiper_value::batch::{Msg, Payloads, RawBatch};
use rekuiper_value::{Error, Object, Str, Value, json};

use crate::traits::{BoxFuture, Source, SourceCx, SourceItem, SourceOut, Stopped};
use crate::{ConnectError, Position, Props, Services};

/// Largest message after decompression.
const MESSAGE_BYTES_MAX: usize = 64 << 20;
/// Most different values of `mergeField` in one tick; a further one takes the place of the oldest.
const FRAMES_MAX: usize = 4096;

/// Puts around a source what its properties ask for and it does not do itself.
pub fn wrap(source: Box<dyn Source>, props: &Props) -> Result<Box<dyn Source>, ConnectError> {
    let own = source.follows();
    let asked = |key: &str| !own.contains(&key) && props.get(key).is_some();
    let millis = |key: &str| match asked(key) {
        true => Ok(props.millis(key, 0)?.max(0)),
        false => Ok(0),
    };
    if !props.str_or("merger", "")?.is_empty() {
        return Err(ConnectError::config("property merger names no merger of this build"));
    }
    let bytes = !source.gives_rows();
    let unpack = match bytes && asked("decompression") {
        true => match props.str_or("decompression", "")? {
            "" => None,
            word => {
                Some(Compression::by_name(word).map_err(|e| ConnectError::config(e.to_string()))?)
            }
        },
        false => None,
    };
    let interval_ms = millis("interval")?;
    let merge = match bytes && interval_ms > 0 {
        true => Some(props.str_or("mergeField", "")?).filter(|f| !f.is_empty()).map(Str::from),
        false => None,
    };
    let inner = if bytes { inner(props)? } else { None };
    let pause_ms = millis("sendInterval")?;
    if interval_ms == 0 && unpack.is_none() && inner.is_none() && pause_ms == 0 {
        return Ok(source);
    }
    Ok(Box::new(Intake { source, interval_ms, merge, unpack, inner, pause_ms }))
}

/// A field whose content is decoded a second time, and how.
struct Inner {
    field: Str,
    decoder: Decoder,
}

fn inner(props: &Props) -> Result<Option<Inner>, ConnectError> {
    let format = props.str_or("payloadFormat", "")?;
    if format.is_empty() {
        return Ok(None);
    }
    let outer = props.str_or("format", "json")?;
    if !outer.eq_ignore_ascii_case("json") || props.get("payloadBatchField").is_some() {
        return Err(ConnectError::config(
            "payloadFormat works in this build on FORMAT json, without payloadBatchField",
        ));
    }
    if format.eq_ignore_ascii_case("protobuf") {
        return Err(ConnectError::config(
            "payloadFormat protobuf is not in this build: json, delimited and urlencoded are",
        ));
    }
    let options = DecodeOptions {
        format: format.into(),
        delimiter: props.str_or("payloadDelimiter", ",")?.into(),
        ..DecodeOptions::default()
    };
    let decoder = Decoder::new(options)
        .map_err(|e| ConnectError::config(format!("property payloadFormat: {e}")))?;
    Ok(Some(Inner { field: props.required("payloadField", "payloadFormat")?.into(), decoder }))
}

struct Intake {
    source: Box<dyn Source>,
    interval_ms: i64,
    merge: Option<Str>,
    unpack: Option<Compression>,
    inner: Option<Inner>,
    pause_ms: i64,
}

impl Source for Intake {
    fn check(&self, services: &Services) -> Result<(), ConnectError> {
        self.source.check(services)
    }

    fn position(&self) -> Option<Arc<dyn Position>> {
        self.source.position()
    }

    fn gives_rows(&self) -> bool {
        self.source.gives_rows()
    }

    fn run<'a>(
        self: Box<Self>,
        cx: SourceCx,
        out: SourceOut,
    ) -> BoxFuture<'a, Result<(), ConnectError>> {
        Box::pin(async move {
            let name = format!("intake of {}", cx.stream);
            let (tx, mut rx) = queue::bounded(name, SOURCE_QUEUE_ROWS_MAX, usize::MAX);
            let clock = cx.clock.clone();
            let mut pump = Pump {
                out: &out,
                start_ms: clock.now_ms(),
                clock,
                interval_ms: self.interval_ms,
                merge: self.merge,
                unpack: self.unpack,
                inner: self.inner,
                pause_ms: self.pause_ms,
                held: VecDeque::new(),
                due_ms: None,
            };
            let mut reading = pin!(self.source.run(cx, SourceOut { tx }));
            let mut ended = None;
            loop {
                let (clock, due) = (pump.clock.clone(), pump.due_ms);
                let tick = async move {
                    match due {
                        Some(at) => clock.sleep_until(at).await,
                        None => std::future::pending().await,
                    }
                };
                let done = tokio::select! {
                    biased;
                    () = out.tx.closed() => return Ok(()),
                    () = tick => pump.tick().await,
                    item = rx.recv() => match item {
                        Some(item) => pump.take(item).await,
                        None => break,
                    },
                    end = &mut reading, if ended.is_none() => {
                        ended = Some(end);
                        Ok(())
                    }
                };
                if done.is_err() {
                    return Ok(());
                }
            }
            let _ = pump.tick().await;
            match ended {
                Some(end) => end,
                None => reading.await,
            }
        })
    }
}

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
                let Some(SourceItem::Batch(mut batch)) = item else {
                    let Some(SourceItem::Error(error)) = item else { return Ok(()) };
                    if out.error(&*error.0).await.is_err() {
                        return Ok(());
                    }
                    continue;
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

/// One message or row that waits for the tick, with the value of `mergeField`.
type Frame = (Option<Value>, RawBatch);

struct Pump<'a> {
    out: &'a SourceOut,
    clock: Clock,
    start_ms: i64,
    interval_ms: i64,
    merge: Option<Str>,
    unpack: Option<Compression>,
    inner: Option<Inner>,
    pause_ms: i64,
    held: VecDeque<Frame>,
    /// When what is held goes on.
    due_ms: Option<i64>,
}

impl Pump<'_> {
    async fn take(&mut self, item: SourceItem) -> Result<(), Stopped> {
        let batch = match item {
            SourceItem::Batch(batch) if !batch.is_empty() => batch,
            SourceItem::Batch(_) => return Ok(()),
            SourceItem::Error(error) => return self.out.error(&*error.0).await,
        };
        if self.interval_ms == 0 {
            return self.unpacked(batch).await;
        }
        match self.merge.clone() {
            None => {
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
        let (now, step) = (self.clock.now_ms(), self.interval_ms);
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
            Some((_, held)) => *held = one,
            None => {
                if self.held.len() >= FRAMES_MAX {
                    self.held.pop_front();
                }
                self.held.push_back((Some(key), one));
            }
        }
        Ok(())
    }

    async fn tick(&mut self) -> Result<(), Stopped> {
        self.due_ms = None;
        let held = std::mem::take(&mut self.held);
        if self.merge.is_none() {
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
        let Some(packed) = self.unpack else { return Ok(batch) };
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
        if let Some(inner) = &self.inner {
            let (done, errors) = each(batch, |message, out| inner.open(message, out));
            self.tell(errors).await?;
            batch = done;
        }
        if self.pause_ms == 0 {
            return self.send(batch).await;
        }
        let (batch, errors) = each(batch, elements);
        self.tell(errors).await?;
        for (n, one) in batch.split(1).into_iter().enumerate() {
            if n > 0 {
                self.clock.sleep_ms(self.pause_ms).await;
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

fn part(bytes: &[u8], (at, len): (u32, u32)) -> &[u8] {
    bytes.get(at as usize..at as usize + len as usize).unwrap_or_default()
}

/// The first message of a batch of bytes.
fn first(batch: &RawBatch) -> Option<&[u8]> {
    match &batch.payloads {
        Payloads::Bytes { bytes, msgs } => Some(part(bytes, msgs.first()?.payload)),
        _ => None,
    }
}

/// The batch with each message replaced by those that `make` makes of it. Rows stay as they are.
fn each(
    batch: RawBatch,
    mut make: impl FnMut(&[u8], &mut Vec<Vec<u8>>) -> Result<(), Error>,
) -> (RawBatch, Vec<Error>) {
    let Payloads::Bytes { bytes, msgs } = &batch.payloads else { return (batch, Vec::new()) };
    let (mut buf, mut made, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    let mut add = |piece: &[u8]| {
        let at = buf.len() as u32;
        buf.extend_from_slice(piece);
        (at, piece.len() as u32)
    };
    for msg in msgs {
        let mut pieces = Vec::new();
        if let Err(error) = make(part(bytes, msg.payload), &mut pieces) {
            errors.push(error);
            continue;
        }
        let topic = add(part(bytes, msg.meta.topic));
        for piece in pieces {
            let mut meta = msg.meta.clone();
            meta.topic = topic;
            made.push(Msg { payload: add(&piece), meta });
        }
    }
    let payloads = Payloads::Bytes { bytes: buf.into(), msgs: made };
    (RawBatch { payloads, ..batch }, errors)
}

impl Inner {
    /// The field goes, what it holds comes in its place; of several rows in it each makes one.
    fn open(&self, message: &[u8], out: &mut Vec<Vec<u8>>) -> Result<(), Error> {
        let Value::Object(row) = json::parse(message)? else {
            return Err(Error::new("payloadFormat works on objects, found another payload"));
        };
        let mut row = Object::clone(&row);
        let inside = match row.remove(self.field.as_str()) {
            Some(Value::Str(text)) => self.decoder.objects(text.as_bytes())?,
            Some(value @ (Value::Object(_) | Value::Array(_))) => {
                self.decoder.objects(json::to_string(&value)?.as_bytes())?
            }
            _ => {
                let field = &self.field;
                return Err(Error::new(format!("a row has no text in {field} (payloadField)")));
            }
        };
        for members in inside {
            let mut whole = row.clone();
            whole.extend(members);
            out.push(json::to_string(&Value::object(whole))?.into_bytes());
        }
        Ok(())
    }
}

/// The elements of a JSON list; another payload is one by itself.
fn elements(message: &[u8], out: &mut Vec<Vec<u8>>) -> Result<(), Error> {
    match message.trim_ascii_start().first() {
        Some(b'[') => match json::parse(message)? {
            Value::Array(items) => {
                for item in items.iter() {
                    out.push(json::to_string(item)?.into_bytes());
                }
            }
            _ => out.push(message.to_vec()),
        },
        _ => out.push(message.to_vec()),
    }
    Ok(())
}
