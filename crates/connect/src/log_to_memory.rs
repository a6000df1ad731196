//! `logToMemory`: a sink that keeps the newest payloads until somebody asks for them (the query
//! command of the command line).

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use crate::traits::{BoxFuture, Opened, Service, Sink, SinkBatch, SinkCx};
use crate::{ConnectError, ConnectorDef, Props};

pub static CONNECTOR: ConnectorDef =
    ConnectorDef { name: "logToMemory", source: None, sink: Some(sink), lookup: None };

/// Payloads kept for a rule; the oldest go first.
pub const PAYLOADS_MAX: usize = 1024;

/// What is kept, by rule. A rule's payloads go with its sink.
#[derive(Clone, Default)]
pub struct ResultLog(Arc<Mutex<HashMap<Arc<str>, VecDeque<String>>>>);

impl ResultLog {
    /// The payloads of a rule since the last call, oldest first.
    pub fn take(&self, rule: &str) -> Vec<String> {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.get_mut(rule).map(|kept| kept.drain(..).collect()).unwrap_or_default()
    }
}

fn sink(_props: &Props) -> Result<Opened, ConnectError> {
    Ok(Opened::Sink(Box::new(LogToMemory { open: None })))
}

struct LogToMemory {
    open: Option<(ResultLog, Arc<str>)>,
}

impl Sink for LogToMemory {
    fn open<'a>(&'a mut self, cx: &'a SinkCx) -> BoxFuture<'a, Result<(), ConnectError>> {
        self.open = Some((cx.services.results.clone(), cx.rule.clone()));
        cx.status.connected(cx.clock.now_ms());
        Box::pin(async { Ok(()) })
    }

    fn service(&self) -> Service {
        Service::Lazy
    }

    fn write<'a>(
        &'a mut self,
        batch: &'a SinkBatch,
        from: usize,
    ) -> BoxFuture<'a, Result<(), ConnectError>> {
        if let Some((log, rule)) = &self.open {
            let mut all = log.0.lock().unwrap_or_else(PoisonError::into_inner);
            let kept = all.entry(rule.clone()).or_default();
            for i in from..batch.len() {
                if kept.len() == PAYLOADS_MAX {
                    kept.pop_front();
                }
                kept.push_back(String::from_utf8_lossy(batch.payload(i)).into_owned());
            }
        }
        Box::pin(async { Ok(()) })
    }
}

impl Drop for LogToMemory {
    fn drop(&mut self) {
        if let Some((log, rule)) = &self.open {
            log.0.lock().unwrap_or_else(PoisonError::into_inner).remove(rule);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{World, payloads, props, sink_of};

    #[tokio::test]
    async fn the_newest_are_kept_until_taken() {
        let world = World::new();
        let mut log = sink_of(sink(&props(serde_json::json!({}))));
        log.open(&world.sink_cx()).await.unwrap();
        let many: Vec<String> = (0..PAYLOADS_MAX + 2).map(|n| n.to_string()).collect();
        let texts: Vec<&str> = many.iter().map(String::as_str).collect();
        log.write(&payloads(&texts, vec![]), 0).await.unwrap();
        assert_eq!(world.services.results.take("r"), many[2..]);
        assert!(world.services.results.take("r").is_empty());
        assert!(world.services.results.take("other").is_empty());
        drop(log);
        assert!(world.services.results.0.lock().unwrap().is_empty());
    }
}
