//! `httppush`: takes the bodies of requests to a path of the data server.

use http::Method;

use crate::data_server::{self, deliver_to};
use crate::traits::{BoxFuture, Opened, Source, SourceCx, SourceOut};
use crate::{ConnectError, ConnectorDef, Props};

pub static CONNECTOR: ConnectorDef =
    ConnectorDef { name: "httppush", source: Some(source), sink: None, lookup: None };

fn source(datasource: &str, props: &Props) -> Result<Opened, ConnectError> {
    let path = data_server::path(datasource, "an httppush source (DATASOURCE)")?.to_owned();
    let method = match props.str_or("method", "POST")?.to_ascii_uppercase().as_str() {
        "POST" => Method::POST,
        "PUT" => Method::PUT,
        other => {
            return Err(ConnectError::config(format!(
                "property method must be POST or PUT, found {other}"
            )));
        }
    };
    Ok(Opened::Source(Box::new(HttpPush { path, method })))
}

struct HttpPush {
    path: String,
    method: Method,
}

impl Source for HttpPush {
    fn run<'a>(
        self: Box<Self>,
        cx: SourceCx,
        out: SourceOut,
    ) -> BoxFuture<'a, Result<(), ConnectError>> {
        Box::pin(async move {
            let tx = out.tx.clone();
            let to = deliver_to(out, cx.clock.clone());
            let _registration = data_server::of(&cx.services)?
                .push(&self.path, self.method, to)
                .map_err(ConnectError::config)?;
            cx.status.connected(cx.clock.now_ms());
            tx.closed().await;
            Ok(())
        })
    }
}
