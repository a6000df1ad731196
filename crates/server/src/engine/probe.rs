//! Whether the peer of a source or sink can be reached.

use std::time::Duration;

use serde_json::Value;
use tokio::net::TcpStream;

use super::{EngineError, EngineResult, Props, Side};
use crate::connectors;

const WITHIN: Duration = Duration::from_secs(5);

/// Connects to the host that the properties name and hangs up.
pub async fn probe(side: Side, typ: &str, props: &Props) -> EngineResult<()> {
    let known = connectors::find(typ).filter(|c| match side {
        Side::Source => c.source.is_some(),
        Side::Sink => c.sink.is_some(),
        Side::Lookup => c.lookup,
    });
    if known.is_none() {
        return Err(EngineError::undefined(format!("{typ} is not known here")));
    }
    let Some((key, port)) = peer_of(typ) else {
        return Err(EngineError::undefined(format!(
            "{typ} has no peer that could be tried"
        )));
    };
    let address = props.get(key).and_then(Value::as_str).unwrap_or_default();
    let host = address.split("://").last().unwrap_or_default();
    let host = host.split(['/', '?']).next().unwrap_or_default();
    if host.is_empty() {
        return Err(EngineError::undefined(format!(
            "{typ} is missing property {key}"
        )));
    }
    let host = match host.rsplit_once(':') {
        Some((_, p)) if p.parse::<u16>().is_ok() => host.to_owned(),
        _ => format!("{host}:{port}"),
    };
    match tokio::time::timeout(WITHIN, TcpStream::connect(&host)).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(e)) => Err(EngineError::io(format!("{host} cannot be reached: {e}"))),
        Err(_) => Err(EngineError::io(format!(
            "{host} does not answer within {WITHIN:?}"
        ))),
    }
}

/// The property with the address, and the usual port.
fn peer_of(typ: &str) -> Option<(&'static str, u16)> {
    match typ {
        "mqtt" => Some(("server", 1883)),
        "httppull" | "rest" => Some(("url", 80)),
        "neuron" => Some(("url", 7081)),
        "redis" => Some(("addr", 6379)),
        "redisSub" => Some(("address", 6379)),
        "sql" => Some(("dburl", 5432)),
        _ => None,
    }
}
