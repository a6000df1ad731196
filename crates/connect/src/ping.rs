//! Trying a configuration: can its peer be reached?

use std::time::Duration;

use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::{ConnectError, Props, Services};

const WAIT: Duration = Duration::from_secs(5);

/// Reaches for the peer that the properties name. An error of `Fault::Config` for connectors that
/// have nothing to reach.
pub async fn ping(typ: &str, props: &Props, services: &Services) -> Result<(), ConnectError> {
    let address = match typ {
        "mqtt" => crate::mqtt::ClientOptions::new(props)?.address(),
        "file" => return Ok(()),
        "httppull" | "rest" => http_address(props.str_or("url", "http://localhost")?, services)?,
        "redis" | "redisSub" | "redisPub" => {
            props.str_or("addr", props.str_or("address", "127.0.0.1:6379")?)?.to_owned()
        }
        "websocket" if !props.str_or("addr", "")?.is_empty() => props.str_or("addr", "")?.to_owned(),
        other => {
            return Err(ConnectError::config(format!("{other} has no connection to be tested")));
        }
    };
    match timeout(WAIT, TcpStream::connect(&address)).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(e)) => Err(ConnectError::io(format!("cannot reach {address}: {e}"))),
        Err(_) => Err(ConnectError::io(format!("no answer from {address} in 5 s"))),
    }
}

fn http_address(url: &str, _services: &Services) -> Result<String, ConnectError> {
    let bad = || ConnectError::config(format!("property url {url:?} is no http address"));
    let (scheme, rest) = url.split_once("://").ok_or_else(bad)?;
    let default = match scheme {
        "http" => 80,
        "https" => 443,
        _ => return Err(bad()),
    };
    let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
    if host.is_empty() {
        return Err(bad());
    }
    let with_port = host.rsplit_once(':').is_some_and(|(_, p)| p.parse::<u16>().is_ok());
    Ok(if with_port { host.to_owned() } else { format!("{host}:{default}") })
}
