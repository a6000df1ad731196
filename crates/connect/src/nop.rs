//! `nop`: a sink that throws everything away; with `log: true` it prints the payloads first.

use crate::traits::{BoxFuture, Opened, Service, Sink, SinkBatch};
use crate::{ConnectError, ConnectorDef, Props};

pub static CONNECTOR: ConnectorDef =
    ConnectorDef { name: "nop", source: None, sink: Some(sink), lookup: None };

fn sink(props: &Props) -> Result<Opened, ConnectError> {
    Ok(Opened::Sink(Box::new(Nop { log: props.bool("log", false)? })))
}

struct Nop {
    log: bool,
}

impl Sink for Nop {
    fn write<'a>(
        &'a mut self,
        batch: &'a SinkBatch,
        from: usize,
    ) -> BoxFuture<'a, Result<(), ConnectError>> {
        if self.log {
            for i in from..batch.len() {
                tracing::info!("nop sink: {}", String::from_utf8_lossy(batch.payload(i)));
            }
        }
        Box::pin(async { Ok(()) })
    }

    fn service(&self) -> Service {
        Service::Direct
    }
}
