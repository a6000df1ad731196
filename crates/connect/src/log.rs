//! `log`: a sink that writes each payload into the engine's log.

use std::sync::Arc;

use crate::traits::{BoxFuture, Opened, Service, Sink, SinkBatch, SinkCx};
use crate::{ConnectError, ConnectorDef, Props};

pub static CONNECTOR: ConnectorDef =
    ConnectorDef { name: "log", source: None, sink: Some(sink), lookup: None };

fn sink(_props: &Props) -> Result<Opened, ConnectError> {
    Ok(Opened::Sink(Box::new(Log { rule: "".into() })))
}

struct Log {
    rule: Arc<str>,
}

impl Sink for Log {
    fn open<'a>(&'a mut self, cx: &'a SinkCx) -> BoxFuture<'a, Result<(), ConnectError>> {
        self.rule = cx.rule.clone();
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
        for i in from..batch.len() {
            let payload = String::from_utf8_lossy(batch.payload(i));
            let rule = &*self.rule;
            tracing::info!(rule, "sink result for rule {rule}: {payload}");
        }
        Box::pin(async { Ok(()) })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::Mutex;

    use super::*;
    use crate::testing::{World, payloads, props, sink_of};

    #[derive(Clone, Default)]
    struct Lines(Arc<Mutex<Vec<u8>>>);

    impl Write for Lines {
        fn write(&mut self, data: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(data);
            Ok(data.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    #[tokio::test]
    async fn a_line_a_payload() {
        let lines = Lines::default();
        let to = lines.clone();
        let log = tracing_subscriber::fmt().with_writer(move || to.clone()).finish();
        let _guard = tracing::subscriber::set_default(log);
        let mut log = sink_of(sink(&props(serde_json::json!({}))));
        log.open(&World::new().sink_cx()).await.unwrap();
        log.write(&payloads(&[r#"[{"a":1}]"#, "x"], vec![]), 0).await.unwrap();
        let text = String::from_utf8(lines.0.lock().unwrap().clone()).unwrap();
        assert!(text.contains(r#"sink result for rule r: [{"a":1}]"#), "{text}");
        assert!(text.contains("sink result for rule r: x"), "{text}");
    }
}
