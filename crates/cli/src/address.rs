//! Where the server is.
//!
//! `--url` or KUIPER_URL when given. Otherwise `etc/client.yaml` below the working directory:
//! `basic.host`, and `basic.restPort` when given. An eKuiper installation names its RPC port in
//! `basic.port` there, so without `restPort` we ask at that port first (a kuiperd told so answers
//! there too), then at KUIPER__BASIC__RESTPORT, then at 9081.

use std::net::{TcpStream, ToSocketAddrs};
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::Value;

const HOST: &str = "127.0.0.1";
const RPC_PORT: u16 = 20498;
const REST_PORT: u16 = 9081;
const CONNECT_MAX: Duration = Duration::from_secs(5);

static FOLDER: OnceLock<String> = OnceLock::new();

/// `-etc DIR`.
pub fn set_folder(folder: String) {
    // the first one wins; the flag twice is no reason to stop
    let _ = FOLDER.set(folder);
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    pub https: bool,
    pub host: String,
    pub port: u16,
}

impl Address {
    pub fn shown(&self) -> String {
        if self.host.contains(':') {
            format!("[{}]:{}", self.host, self.port)
        } else {
            format!("{}:{}", self.host, self.port)
        }
    }

    pub fn base(&self) -> String {
        format!("{}://{}", if self.https { "https" } else { "http" }, self.shown())
    }

    fn answers(&self) -> bool {
        let Ok(mut all) = (self.host.as_str(), self.port).to_socket_addrs() else { return false };
        all.any(|a| TcpStream::connect_timeout(&a, CONNECT_MAX).is_ok())
    }
}

/// The addresses to try, in order; at least one.
pub fn find(url: Option<&str>) -> Result<Vec<Address>, String> {
    if let Some(url) = url {
        return from_url(url).map(|a| vec![a]);
    }
    let folder = FOLDER.get().map_or("etc", String::as_str);
    let path = std::path::Path::new(folder).join("client.yaml");
    let text = match std::fs::read_to_string(&path) {
        Ok(text) => text,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => String::new(),
        Err(e) => return Err(format!("{} cannot be read: {e}", path.display())),
    };
    let env = std::env::var("KUIPER__BASIC__RESTPORT").ok().and_then(|p| p.parse().ok());
    from_yaml(&text, env).map_err(|e| format!("{}: {e}", path.display()))
}

/// The first address where somebody listens, or the first one and `false`.
pub fn choose(addresses: &[Address]) -> (&Address, bool) {
    match addresses.iter().find(|a| a.answers()) {
        Some(address) => (address, true),
        None => (&addresses[0], false),
    }
}

fn from_url(url: &str) -> Result<Address, String> {
    let wrong = || format!("{url} is no address of a server, http://HOST:PORT is expected");
    let (https, rest) = match url.split_once("://") {
        Some(("http", rest)) => (false, rest),
        Some(("https", rest)) => (true, rest),
        None => (false, url),
        Some(_) => return Err(wrong()),
    };
    let rest = rest.trim_end_matches('/');
    let (host, port) = match rest.rsplit_once(':') {
        Some((host, port)) if !host.ends_with(':') => (host, port.parse().map_err(|_| wrong())?),
        _ => (rest, REST_PORT),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if host.is_empty() || host.contains(['/', '@', ' ']) {
        return Err(wrong());
    }
    Ok(Address { https, host: host.into(), port })
}

fn from_yaml(text: &str, rest_port: Option<u16>) -> Result<Vec<Address>, String> {
    let yaml: Value = serde_norway::from_str(text).map_err(|e| e.to_string())?;
    let port = |name: &str| match &yaml["basic"][name] {
        Value::Null => Ok(None),
        v => {
            let number = v.as_u64().or_else(|| v.as_str().and_then(|s| s.parse().ok()));
            let number = number.and_then(|n| u16::try_from(n).ok()).filter(|n| *n > 0);
            number.map(Some).ok_or_else(|| format!("basic.{name}: {v} is no port"))
        }
    };
    let host = match &yaml["basic"]["host"] {
        Value::Null => HOST.to_string(),
        Value::String(host) => host.clone(),
        v => return Err(format!("basic.host: {v} is no host")),
    };
    let ports = match port("restPort")? {
        Some(rest) => vec![rest],
        None => vec![port("port")?.unwrap_or(RPC_PORT), rest_port.unwrap_or(REST_PORT)],
    };
    let at = |port| Address { https: false, host: host.clone(), port };
    Ok(ports.into_iter().map(at).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Vec<String> {
        from_yaml(text, None).unwrap().iter().map(Address::shown).collect()
    }

    #[test]
    fn an_untouched_client_yaml_finds_both_ports() {
        assert_eq!(shown(""), ["127.0.0.1:20498", "127.0.0.1:9081"]);
        assert_eq!(
            shown("basic:\n  host: 10.0.0.7\n  port: 20500"),
            ["10.0.0.7:20500", "10.0.0.7:9081"]
        );
    }

    #[test]
    fn a_rest_port_is_the_only_one() {
        assert_eq!(shown("basic: {port: 20498, restPort: 9999}"), ["127.0.0.1:9999"]);
        assert_eq!(from_yaml("", Some(9100)).unwrap()[1].port, 9100);
    }

    #[test]
    fn nonsense_is_named() {
        assert!(from_yaml("basic: {port: many}", None).unwrap_err().contains("basic.port"));
        assert!(from_yaml("basic: {host: 5}", None).unwrap_err().contains("basic.host"));
        assert!(from_yaml("basic: [", None).is_err());
    }

    #[test]
    fn urls() {
        assert_eq!(from_url("http://[::1]:9081/").unwrap().base(), "http://[::1]:9081");
        assert_eq!(from_url("gate").unwrap().base(), "http://gate:9081");
        assert_eq!(from_url("https://gate:1").unwrap().base(), "https://gate:1");
        for bad in ["ftp://x", "http://", "http://h:port", "http://u@h", "http://h/x"] {
            assert!(from_url(bad).is_err(), "{bad}");
        }
    }
}
