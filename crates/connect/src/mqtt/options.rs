//! Connection properties of MQTT sources, sinks and named connections.

use std::sync::Arc;

use rekuiper_mqtt_codec::{QoS, Version};

use crate::{ConnectError, Props};

#[derive(Clone, Debug)]
pub struct ClientOptions {
    pub host: String,
    pub port: u16,
    pub tls: bool,
    /// The path, where MQTT goes through a WebSocket.
    pub websocket: Option<String>,
    pub version: Version,
    /// Empty: a random one.
    pub client_id: String,
    pub username: Option<String>,
    pub password: Option<String>,
    /// Keep the session at the broker while away (enableClientSession).
    pub session: bool,
    pub session_expiry_s: u32,
    /// Certificates and the like, read when the options were; only looked at when `tls` is set.
    pub tls_config: Option<Arc<rustls::ClientConfig>>,
    /// Name of the shared connection; empty: a connection of its own.
    pub selector: String,
}

impl ClientOptions {
    pub fn new(props: &Props) -> Result<Self, ConnectError> {
        let server = props
            .str("server")?
            .filter(|s| !s.is_empty())
            .ok_or_else(|| ConnectError::config("missing server property"))?;
        let Server { tls, websocket, host, port } = server_parts(server)?;
        let text = |key: &str| -> Result<String, ConnectError> {
            Ok(props.str(key)?.unwrap_or_default().to_owned())
        };
        let some = |key: &str| -> Result<Option<String>, ConnectError> {
            Ok(props.str(key)?.filter(|s| !s.is_empty()).map(str::to_owned))
        };
        Ok(ClientOptions {
            host,
            port,
            tls,
            websocket,
            version: version(props)?,
            client_id: text("clientid")?,
            username: some("username")?,
            password: some("password")?,
            session: props.bool("enableClientSession", false)?,
            session_expiry_s: u32::try_from(props.int("sessionExpiryIntervalSeconds", 60)?)
                .unwrap_or(60),
            tls_config: match tls {
                true => Some(crate::tls::client_config(props)?),
                false => None,
            },
            selector: text("connectionSelector")?,
        })
    }

    pub fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

/// `qos`, 0 to 2.
pub fn qos(props: &Props, default: i64) -> Result<QoS, ConnectError> {
    match props.int("qos", default)? {
        0 => Ok(QoS::AtMostOnce),
        1 => Ok(QoS::AtLeastOnce),
        2 => Ok(QoS::ExactlyOnce),
        other => {
            Err(ConnectError::config(format!("property qos must be 0, 1 or 2, found {other}")))
        }
    }
}

fn version(props: &Props) -> Result<Version, ConnectError> {
    let word = match props.get("protocolVersion") {
        None => return Ok(Version::V311),
        Some(serde_json::Value::String(s)) => s.clone(),
        Some(other) => other.to_string(),
    };
    match word.as_str() {
        "3.1" | "3" => Ok(Version::V31),
        "" | "3.1.1" | "4" => Ok(Version::V311),
        "5" | "5.0" => Ok(Version::V5),
        other => Err(ConnectError::config(format!(
            "unsupported protocol version {other}: expected 3.1, 3.1.1 or 5"
        ))),
    }
}

/// What `server` says.
struct Server {
    tls: bool,
    websocket: Option<String>,
    host: String,
    port: u16,
}

fn server_parts(server: &str) -> Result<Server, ConnectError> {
    let bad = |why: &str| {
        ConnectError::config(format!(
            "property server {server:?} {why}: expected a form like tcp://127.0.0.1:1883"
        ))
    };
    let (scheme, rest) = server.split_once("://").unwrap_or(("tcp", server));
    let (tls, over_websocket, usual) = match scheme {
        "tcp" | "mqtt" => (false, false, 1883),
        "ssl" | "tls" | "mqtts" | "tcps" => (true, false, 8883),
        "ws" => (false, true, 80),
        "wss" => (true, true, 443),
        _ => return Err(bad("has an unknown scheme")),
    };
    let at = rest.find('/').unwrap_or(rest.len());
    let (rest, path) = rest.split_at(at);
    if !over_websocket && path.len() > 1 {
        return Err(bad("has a path"));
    }
    let (host, port) = match rest.rsplit_once(':').filter(|_| !rest.ends_with(']')) {
        Some((host, port)) => (host, port.parse().map_err(|_| bad("has no valid port"))?),
        None => (rest, usual),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if host.is_empty() {
        return Err(bad("has no host"));
    }
    let path = if path.is_empty() { "/" } else { path };
    let websocket = over_websocket.then(|| path.to_owned());
    Ok(Server { tls, websocket, host: host.to_owned(), port })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(json: serde_json::Value) -> Result<ClientOptions, ConnectError> {
        ClientOptions::new(&Props::new(json.as_object().unwrap().clone()))
    }

    #[test]
    fn servers_and_versions() {
        let o =
            options(serde_json::json!({"server": "tcp://h:99", "ProtocolVersion": "5"})).unwrap();
        assert_eq!((o.host.as_str(), o.port, o.tls, o.version), ("h", 99, false, Version::V5));
        let o = options(serde_json::json!({"server": "ssl://[::1]"})).unwrap();
        assert_eq!((o.host.as_str(), o.port, o.tls), ("::1", 8883, true));
        let o = options(serde_json::json!({"server": "wss://h/mqtt/x"})).unwrap();
        assert_eq!((o.port, o.tls, o.websocket.as_deref()), (443, true, Some("/mqtt/x")));
        let o = options(serde_json::json!({"server": "ws://h:8083"})).unwrap();
        assert_eq!((o.port, o.tls, o.websocket.as_deref()), (8083, false, Some("/")));
        for bad in ["tcp://", "foo://h:1", "tcp://h:x", "tcp://h:1/x", "ws:///x"] {
            assert!(options(serde_json::json!({"server": bad})).is_err(), "{bad}");
        }
        assert!(options(serde_json::json!({})).unwrap_err().text.contains("missing server"));
        let odd = serde_json::json!({"server": "tcp://h:1", "protocolVersion": "7"});
        assert!(options(odd).is_err());
    }
}
