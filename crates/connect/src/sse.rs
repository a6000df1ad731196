//! `sse`: a sink that serves each payload as a server-sent event at a path of the data server.

use bytes::Bytes;

use crate::data_server::{self, Registration, SendAll};
use crate::traits::{BoxFuture, Opened, Sink, SinkBatch, SinkCx};
use crate::{ConnectError, ConnectorDef, Props};

pub static CONNECTOR: ConnectorDef =
    ConnectorDef { name: "sse", source: None, sink: Some(sink), lookup: None };

fn sink(props: &Props) -> Result<Opened, ConnectError> {
    let path = match props.str_or("endpoint", "")? {
        "" => props.str_or("datasource", "")?,
        path => path,
    };
    let path = data_server::path(path, "an sse sink (property endpoint)")?.to_owned();
    Ok(Opened::Sink(Box::new(Sse { path, open: None })))
}

struct Sse {
    path: String,
    open: Option<(SendAll, Registration)>,
}

impl Sink for Sse {
    fn open<'a>(&'a mut self, cx: &'a SinkCx) -> BoxFuture<'a, Result<(), ConnectError>> {
        Box::pin(async move {
            if self.open.is_none() {
                let server = data_server::of(&cx.services)?;
                self.open = Some(server.events(&self.path).map_err(ConnectError::config)?);
            }
            cx.status.connected(cx.clock.now_ms());
            Ok(())
        })
    }

    fn write<'a>(
        &'a mut self,
        batch: &'a SinkBatch,
        from: usize,
    ) -> BoxFuture<'a, Result<(), ConnectError>> {
        if let Some((send, _)) = &self.open {
            for i in from..batch.len() {
                send(Bytes::copy_from_slice(batch.payload(i)));
            }
        }
        Box::pin(async { Ok(()) })
    }

    fn close(&mut self) -> BoxFuture<'_, Result<(), ConnectError>> {
        self.open = None;
        Box::pin(async { Ok(()) })
    }
}
