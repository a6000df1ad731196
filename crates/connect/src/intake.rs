//! What every source can be asked for by its properties, done between the source and its stream:
//!
//! - `interval` of a source that is sent to: only the latest message of each tick goes on; with
//!   `mergeField` the latest for each value of that field, their members put together;
//! - `decompression` of messages;
//! - `payloadFormat`: a field that holds an encoded row is replaced by what it holds;
//! - `sendInterval`: a pause between the rows of one payload.
//!
//! A source without any of them is not wrapped at all.

mod inner;
mod messages;
mod pump;
#[cfg(test)]
mod tests;
mod until;

use std::pin::pin;
use std::sync::Arc;

use rekuiper_formats::codec::Compression;
use rekuiper_rt::limits::SOURCE_QUEUE_ROWS_MAX;
use rekuiper_rt::queue;
use rekuiper_value::Str;

use self::inner::inner;
use self::pump::{Asked, Pump};
pub use self::until::until;
use crate::traits::{BoxFuture, Source, SourceCx, SourceOut};
use crate::{ConnectError, Position, Props, Services};

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
    let asked = Asked { interval_ms, merge, unpack, inner, pause_ms };
    Ok(Box::new(Intake { source, asked }))
}

struct Intake {
    source: Box<dyn Source>,
    asked: Asked,
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
            let mut pump = Pump::new(self.asked, &out, cx.clock.clone());
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
