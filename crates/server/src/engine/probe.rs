//! Whether the peer of a source or sink can be reached.

use std::sync::Arc;
use std::time::Duration;

use rekuiper_connect::mqtt::{Client, ClientOptions};
use rekuiper_connect::{ConnStatus, Props as ConnectProps, Services, http};
use serde_json::Value;
use tokio::net::TcpStream;

use super::{EngineError, EngineResult, Props, Side};
use crate::connectors;

const WITHIN: Duration = Duration::from_secs(5);
/// How often a client is asked whether it has come through.
const LOOK: Duration = Duration::from_millis(10);

/// Connects to the host that the properties name, as the connector would, and hangs up.
pub async fn probe(
    side: Side,
    typ: &str,
    props: &Props,
    services: &Services,
) -> EngineResult<()> {
    let known = connectors::find(typ).filter(|c| match side {
        Side::Source => c.source.is_some(),
        Side::Sink => c.sink.is_some(),
        Side::Lookup => c.lookup,
    });
    if known.is_none() {
        return Err(EngineError::undefined(format!("{typ} is not known here")));
    }
    let Some((key, port)) = peer_of(typ) else {
        return Err(EngineError::undefined(format!("{typ} has no peer that could be tried")));
    };
    let (host, port) = address(typ, key, port, props)?;
    let place = format!("{host}:{port}");
    let done = tokio::time::timeout(WITHIN, async {
        match typ {
            "mqtt" => broker(props, services).await,
            // where these connectors may not go, nobody is to find out who is there
            "httppull" | "rest" => match http::dial(services, &host, port).await {
                Ok(_) => Ok(()),
                Err(e) => Err(EngineError::io(e.text)),
            },
            _ => match TcpStream::connect((host.as_str(), port)).await {
                Ok(_) => Ok(()),
                Err(e) => Err(EngineError::io(format!("{place} cannot be reached: {e}"))),
            },
        }
    });
    let late = |_| EngineError::io(format!("{place} does not answer within {WITHIN:?}"));
    done.await.map_err(late)?
}

/// Logs in at a broker, under a client id of its own: a client that works there is left alone.
async fn broker(props: &Props, services: &Services) -> EngineResult<()> {
    let mut options = ClientOptions::new(&ConnectProps::new(props.clone()))
        .map_err(|e| EngineError::undefined(e.text))?;
    options.client_id.clear();
    options.session = false;
    let status = Arc::new(ConnStatus::default());
    let _client = Client::start(options, services.clock.clone(), status.clone());
    loop {
        match status.state() {
            1 => return Ok(()),
            0 => tokio::time::sleep(LOOK).await,
            _ => return Err(EngineError::io(status.message())),
        }
    }
}

fn address(typ: &str, key: &str, usual: u16, props: &Props) -> EngineResult<(String, u16)> {
    let address = props.get(key).and_then(Value::as_str).unwrap_or_default();
    let rest = address.split_once("://").map_or(address, |(_, rest)| rest);
    let rest = rest.split(['/', '?']).next().unwrap_or_default();
    let place = rest.rsplit_once('@').map_or(rest, |(_, place)| place);
    let (host, port) = match place.rsplit_once(':') {
        Some((host, port)) if !place.ends_with(']') => match port.parse() {
            Ok(port) => (host, port),
            Err(_) => {
                let why = format!("property {key} of {typ}: {port:?} is no port");
                return Err(EngineError::undefined(why));
            }
        },
        _ if address.starts_with("https:") => (place, 443),
        _ => (place, usual),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    match host {
        "" => Err(EngineError::undefined(format!("{typ} is missing property {key}"))),
        host => Ok((host.to_owned(), port)),
    }
}

/// The property with the address, and the usual port.
fn peer_of(typ: &str) -> Option<(&'static str, u16)> {
    match typ {
        "mqtt" => Some(("server", 1883)),
        "httppull" | "rest" => Some(("url", 80)),
        "websocket" => Some(("addr", 80)),
        "neuron" => Some(("url", 7081)),
        "redis" => Some(("addr", 6379)),
        "redisSub" => Some(("address", 6379)),
        "sql" => Some(("dburl", 5432)),
        _ => None,
    }
}
