//! Calls of the REST API: one blocking request at a time.

use std::io::Read;
use std::time::Duration;

use serde_json::Value;
use ureq::http::Request;

use crate::address::Address;
use crate::outcome::Failure;
use crate::say;

/// Replies above this are refused: exports are the largest, and they are far below.
const REPLY_BYTES_MAX: u64 = 256 * 1024 * 1024;

pub struct Client {
    agent: ureq::Agent,
    base: String,
    host: String,
    token: Option<String>,
}

pub struct Reply {
    pub status: u16,
    pub body: String,
}

impl Client {
    pub fn new(address: &Address, token: Option<String>) -> Result<Self, Failure> {
        if address.https && !cfg!(feature = "tls") {
            return Err(Failure::Refused(
                "this kuiper was built without TLS: build it with --features tls for https".into(),
            ));
        }
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .proxy(None)
            .timeout_connect(Some(Duration::from_secs(5)))
            .build()
            .into();
        Ok(Self { agent, base: address.base(), host: address.host.clone(), token })
    }

    pub fn get(&self, path: &str) -> Result<Reply, Failure> {
        self.send("GET", path, None)
    }

    pub fn post(&self, path: &str, body: &str) -> Result<Reply, Failure> {
        self.send("POST", path, Some(body))
    }

    pub fn delete(&self, path: &str) -> Result<Reply, Failure> {
        self.send("DELETE", path, None)
    }

    fn send(&self, method: &str, path: &str, body: Option<&str>) -> Result<Reply, Failure> {
        let mut reply = self
            .request(method, &format!("{}{path}", self.base), body)
            .map_err(|e| broken(&e.to_string()))?;
        let status = reply.status().as_u16();
        let body = reply.body_mut().with_config().limit(REPLY_BYTES_MAX).lossy_utf8(true);
        Ok(Reply { status, body: body.read_to_string().map_err(|e| broken(&e.to_string()))? })
    }

    fn request(
        &self,
        method: &str,
        url: &str,
        body: Option<&str>,
    ) -> Result<ureq::http::Response<ureq::Body>, ureq::Error> {
        let mut request = Request::builder().method(method).uri(url);
        if let Some(token) = &self.token {
            request = request.header("Authorization", token);
        }
        match body {
            Some(body) => {
                let request = request.header("Content-Type", "application/json");
                self.agent.run(request.body(body.to_owned())?)
            }
            None => self.agent.run(request.body(())?),
        }
    }

    /// An endless reply on another port of the same host: the results of a trial run.
    pub fn stream(&self, port: u64, path: &str) -> Result<impl Read + Send + 'static, Failure> {
        let host =
            if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
        let url = format!("http://{host}:{port}{path}");
        let reply = self
            .request("GET", &url, None)
            .map_err(|e| Failure::Refused(format!("results cannot be read from {url}: {e}")))?;
        match reply.status().as_u16() {
            200 => Ok(reply.into_body().into_reader()),
            status => Err(Failure::Refused(format!("results at {url}: the server said {status}"))),
        }
    }
}

fn broken(why: &str) -> Failure {
    Failure::Refused(format!("{} ({why})", say::NOT_CONNECTED))
}

impl Reply {
    pub fn missing(&self) -> bool {
        self.status == 404
    }

    /// The text of a success, or why not.
    pub fn text(self) -> Result<String, Failure> {
        if (200..300).contains(&self.status) {
            Ok(self.body)
        } else {
            Err(Failure::Refused(self.message()))
        }
    }

    pub fn json(self) -> Result<Value, Failure> {
        let text = self.text()?;
        serde_json::from_str(&text).map_err(|e| {
            Failure::Refused(format!("the reply of the server is no JSON ({e}): {text}"))
        })
    }

    /// The sentence inside an error reply.
    pub fn message(&self) -> String {
        if self.status == 401 {
            return "the server asks for a valid token: give it with --token or KUIPER_TOKEN"
                .into();
        }
        let body = self.body.trim();
        let told = serde_json::from_str::<Value>(body)
            .ok()
            .and_then(|v| v["message"].as_str().map(str::to_owned));
        match told {
            Some(message) => message,
            None if body.is_empty() => format!("the server said {} and no more", self.status),
            None => body.to_string(),
        }
    }
}

/// One part of a path: what is no plain letter is escaped, so a name cannot become a path.
pub fn part(word: &str) -> String {
    let mut out = String::new();
    for b in word.bytes() {
        if b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'~') {
            out.push(char::from(b));
        } else {
            out.push_str(&format!("%{b:02X}"));
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_one_part() {
        assert_eq!(part("r_1"), "r_1");
        assert_eq!(part("../x?y"), "%2E%2E%2Fx%3Fy");
    }

    #[test]
    fn errors_are_told_in_the_words_of_the_server() {
        let of = |status, body: &str| Reply { status, body: body.into() }.message();
        assert_eq!(of(400, "{\"error\":1000,\"message\":\"no\"}\n"), "no");
        assert_eq!(of(422, "plain\n"), "plain");
        assert_eq!(of(405, ""), "the server said 405 and no more");
        assert!(of(401, "missing_token").contains("KUIPER_TOKEN"));
    }
}
