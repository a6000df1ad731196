//! A method of an external service as a function: one HTTP exchange a call.

use std::path::Path;
use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, Method, header};
use rekuiper_connect::http::{Answer, Call, HttpClient, header_texts, headers_of, parse_url};
use rekuiper_connect::{Props, Services};
use rekuiper_formats::proto::{Method as ProtoMethod, Schema};
use rekuiper_functions::{Cx, ExternalFn};
use rekuiper_value::{Error, Result, Value, json};
use serde_json::{Map, Value as Json};

use super::uri;
use crate::catalog::ServiceFunction;

/// Longest time that one try of a call may take.
const TIMEOUT_MS: i64 = 5_000;
/// Most tries after the first, whatever the options say.
const RETRIES_MAX: i64 = 10;
/// Longest wait between two tries.
const RETRY_WAIT_MAX_MS: i64 = 5_000;

/// Makes the function; an error says what is wrong with its description.
pub fn make(
    function: &ServiceFunction,
    interface: &Json,
    folder: &Path,
    services: Arc<Services>,
) -> Result<Arc<dyn ExternalFn>> {
    let name = &function.name;
    match interface["Protocol"].as_str().unwrap_or_default() {
        "rest" => {}
        other => {
            return Err(Error::new(format!(
                "function {name}: protocol {other} of interface {} is not in this build; rest is",
                function.interface
            )));
        }
    }
    let method = match interface["Schema"]["Schemaless"].as_bool().unwrap_or(false) {
        true => None,
        false => Some(method(function, interface, folder)?),
    };
    let options = interface["Options"].as_object().cloned().unwrap_or_default();
    let props = Props::new(options);
    let wrong = |e: rekuiper_connect::ConnectError| {
        Error::new(format!("function {name}: options of its interface: {}", e.text))
    };
    let mut headers = headers_of(header_texts(&props, "headers").map_err(wrong)?).map_err(wrong)?;
    if !headers.contains_key(header::CONTENT_TYPE) {
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    }
    let tls = rekuiper_connect::tls::client_config(&props).map_err(wrong)?;
    Ok(Arc::new(Rest {
        name: name.clone(),
        base: function.addr.trim_end_matches('/').to_owned(),
        method,
        headers,
        client: HttpClient::new(tls),
        services,
        retries: props.int("retryCount", 0).map_err(wrong)?.clamp(0, RETRIES_MAX),
        retry_ms: props.millis("retryInterval", 0).map_err(wrong)?.clamp(0, RETRY_WAIT_MAX_MS),
    }))
}

fn method(f: &ServiceFunction, interface: &Json, folder: &Path) -> Result<ProtoMethod> {
    let file = interface["Schema"]["SchemaFile"].as_str().unwrap_or_default();
    let folder = folder.to_owned();
    let open = move |wanted: &str| {
        let inside = !wanted.split('/').any(|part| part == "..") && !wanted.starts_with('/');
        inside.then(|| std::fs::read_to_string(folder.join(wanted)).ok()).flatten()
    };
    let methods = Schema::compile(file, open)?.methods();
    let found = methods.into_iter().find(|m| m.name == f.method);
    found.ok_or_else(|| {
        Error::new(format!("function {}: schema {file} has no method {}", f.name, f.method))
    })
}

/// A function over HTTP with JSON bodies.
struct Rest {
    name: String,
    base: String,
    /// `None`: without schema, called with verb, path and body.
    method: Option<ProtoMethod>,
    headers: HeaderMap,
    client: HttpClient,
    services: Arc<Services>,
    retries: i64,
    retry_ms: i64,
}

impl ExternalFn for Rest {
    fn call(&self, args: &[Value], _cx: Option<&Cx<'_>>) -> Result<Value> {
        let call = self.request(args)?;
        let answer = rekuiper_rt::task::wait_for(self.exchange(call));
        let answer = answer.ok_or_else(|| {
            self.wrong("it can only be called while the engine runs on several threads")
        })??;
        self.result(&answer)
    }
}

impl Rest {
    fn wrong(&self, why: impl std::fmt::Display) -> Error {
        Error::new(format!("function {}: {why}", self.name))
    }

    async fn exchange(&self, call: Call) -> Result<Answer> {
        let mut left = self.retries;
        loop {
            let done = self.client.send(&self.services, call.clone(), TIMEOUT_MS).await;
            let passing = match &done {
                Ok(answer) => answer.status.is_server_error(),
                Err(e) => matches!(e.fault, rekuiper_connect::Fault::Io),
            };
            if !passing || left == 0 {
                return done.map_err(|e| self.wrong(e.text));
            }
            left -= 1;
            self.services.clock.sleep_ms(self.retry_ms).await;
        }
    }

    fn request(&self, args: &[Value]) -> Result<Call> {
        let (method, path, body) = match &self.method {
            Some(method) => self.by_schema(method, args)?,
            None => self.by_hand(args)?,
        };
        let url = format!("{}{path}", self.base);
        Ok(Call {
            method,
            url: parse_url(&url).map_err(|e| self.wrong(e.text))?,
            headers: self.headers.clone(),
            body: body.unwrap_or_default().into(),
        })
    }

    /// `f("POST", "/path", body)`
    fn by_hand(&self, args: &[Value]) -> Result<(Method, String, Option<String>)> {
        let [Value::Str(verb), Value::Str(path), body @ ..] = args else {
            return Err(self.wrong("expected a verb, a path, and perhaps a body"));
        };
        let method = Method::from_bytes(verb.to_ascii_uppercase().as_bytes())
            .map_err(|_| self.wrong(format!("{verb} is no verb")))?;
        let slash = if path.starts_with('/') { "" } else { "/" };
        let body = body.first().map(|v| json::to_serde(v).to_string());
        Ok((method, format!("{slash}{path}"), body))
    }

    fn by_schema(
        &self,
        method: &ProtoMethod,
        args: &[Value],
    ) -> Result<(Method, String, Option<String>)> {
        let input = self.input(method, args)?;
        let Some(rule) = &method.http else {
            let body = match input {
                // a text stands for the body as it is
                Json::String(raw) => raw,
                other => other.to_string(),
            };
            return Ok((Method::POST, format!("/{}", method.name), Some(body)));
        };
        let mut message = match input {
            Json::Object(message) => message,
            scalar => Map::from_iter([("value".to_owned(), scalar)]),
        };
        let mut path = uri::fill(&rule.path, &mut message).map_err(|e| self.wrong(e))?;
        let body = match rule.body.as_str() {
            "" => None,
            "*" => Some(Json::Object(std::mem::take(&mut message)).to_string()),
            field => Some(message.shift_remove(field).unwrap_or_default().to_string()),
        };
        let query = uri::query(&message);
        if !query.is_empty() {
            path = format!("{path}{}{query}", if path.contains('?') { '&' } else { '?' });
        }
        let verb = Method::from_bytes(rule.verb.as_bytes()).map_err(|e| self.wrong(e))?;
        Ok((verb, path, body))
    }

    /// The input message: one map by the fields' names, else the arguments in the fields' order.
    fn input(&self, method: &ProtoMethod, args: &[Value]) -> Result<Json> {
        let fields = method.input.field_names();
        if let [one @ Value::Object(map)] = args
            && (fields.len() != 1 || map.contains_key(&fields[0]))
        {
            return Ok(json::to_serde(one));
        }
        if args.len() != fields.len() {
            let (wanted, got) = (fields.len(), args.len());
            return Err(self.wrong(format!("require {wanted} parameters but only got {got}")));
        }
        if let ([one], true) = (args, is_wrapper(method.input.full_name())) {
            return Ok(json::to_serde(one));
        }
        let members = fields.iter().zip(args);
        let message = members
            .filter(|(_, v)| !v.is_null())
            .map(|(name, v)| (name.to_string(), json::to_serde(v)));
        Ok(Json::Object(message.collect()))
    }

    fn result(&self, answer: &Answer) -> Result<Value> {
        if !answer.status.is_success() {
            let start = String::from_utf8_lossy(&answer.body[..answer.body.len().min(200)]);
            return Err(self.wrong(format!("it answered {}: {start}", answer.status)));
        }
        let output = self.method.as_ref().map(|m| m.output.full_name());
        if output == Some("google.protobuf.Empty") {
            return Ok(Value::Null);
        }
        let typ = answer.headers.get(header::CONTENT_TYPE).and_then(|v| v.to_str().ok());
        let typ = typ.unwrap_or("application/json");
        let is_text = typ.starts_with("text/plain");
        if !is_text && !typ.starts_with("application/json") {
            return Err(self.wrong(format!(
                "it answered with {typ}, expected application/json or text/plain"
            )));
        }
        match serde_json::from_slice::<Json>(&answer.body) {
            Ok(value) => Ok(json::from_serde(&value, false)),
            Err(_) if is_text || output == Some("google.protobuf.StringValue") => {
                Ok(Value::from(&*String::from_utf8_lossy(&answer.body)))
            }
            Err(e) => Err(self.wrong(format!("its answer is not valid JSON: {e}"))),
        }
    }
}

fn is_wrapper(full_name: &str) -> bool {
    full_name.starts_with("google.protobuf.") && full_name.ends_with("Value")
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering::Relaxed;

    use rekuiper_rt::Clock;
    use serde_json::json;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpListener;

    use super::*;

    const PROTO: &str = "syntax = \"proto3\"; package p;
        import \"google/api/annotations.proto\"; import \"google/protobuf/wrappers.proto\";
        service S {
          rpc Add(Two) returns (One) {}
          rpc Raw(google.protobuf.StringValue) returns (google.protobuf.StringValue) {}
          rpc Get(Two) returns (One) { option (google.api.http) = { get: \"/v/{a}\" }; }
        }
        message Two { double a = 1; double b = 2; } message One { double c = 1; }";

    /// Answers every request with its first line and its body, the first `bad` ones with 503.
    async fn echo(bad: usize) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        tokio::spawn(async move {
            let mut served = 0;
            while let Ok((mut peer, _)) = listener.accept().await {
                let mut seen = Vec::new();
                let mut part = [0; 4096];
                let body = loop {
                    let n = peer.read(&mut part).await.unwrap_or(0);
                    seen.extend_from_slice(&part[..n]);
                    let text = String::from_utf8_lossy(&seen).into_owned();
                    let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
                    let length = head.to_lowercase();
                    let length = length.split("content-length: ").nth(1).unwrap_or("0");
                    let length: usize = length.lines().next().unwrap_or("0").parse().unwrap_or(0);
                    if body.len() >= length || n == 0 {
                        let line = head.lines().next().unwrap_or_default();
                        break json!({"line": line, "body": body}).to_string();
                    }
                };
                served += 1;
                let status = if served > bad { "200 OK" } else { "503 Later" };
                let answer = format!(
                    "HTTP/1.1 {status}\r\ncontent-type: application/json\r\n\
                     connection: close\r\ncontent-length: {}\r\n\r\n{body}",
                    body.len()
                );
                let _ = peer.write_all(answer.as_bytes()).await;
            }
        });
        address
    }

    fn made(
        method: &str,
        addr: &str,
        protocol: &str,
        private: bool,
    ) -> Result<Arc<dyn ExternalFn>> {
        let folder = std::env::temp_dir().join(format!("rekuiper-service-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let file = format!("{method}{private}.proto");
        std::fs::write(folder.join(&file), PROTO).expect("written");
        let services = Services::new(Clock::Real, folder.clone(), folder.clone());
        services.private_net.store(private, Relaxed);
        let text = |t: &str| t.to_owned();
        let function = ServiceFunction {
            name: text("f"),
            service: text("s"),
            interface: text("i"),
            addr: text(addr),
            method: text(method),
        };
        let interface = json!({
            "Protocol": protocol,
            "Schema": {"SchemaFile": file, "Schemaless": method.is_empty()},
            "Options": {"headers": {"x-a": "b"}, "retryCount": 2, "retryInterval": "1ms"},
        });
        make(&function, &interface, &folder, services)
    }

    async fn called(method: &str, args: &[Value]) -> Result<(String, String)> {
        let f = made(method, &echo(0).await, "rest", true)?;
        let Value::Object(o) = f.call(args, None)? else { panic!("an object") };
        let text = |key: &str| o[key].as_str().unwrap_or_default().to_owned();
        Ok((text("line"), text("body")))
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn arguments_become_requests() {
        let (one, two) = (Value::Float(1.0), Value::Float(2.5));
        let pair = |a: &str, b: &str| Ok((a.to_owned(), b.to_owned()));
        let add = called("Add", &[one.clone(), two.clone()]).await;
        assert_eq!(add, pair("POST /Add HTTP/1.1", r#"{"a":1,"b":2.5}"#));
        let map = json::parse(br#"{"b":1,"a":2}"#).expect("a map");
        let add = called("Add", &[map]).await;
        assert_eq!(add, pair("POST /Add HTTP/1.1", r#"{"a":2,"b":1}"#));
        let raw = called("Raw", &[Value::from("{\"x\":1}")]).await;
        assert_eq!(raw, pair("POST /Raw HTTP/1.1", r#"{"x":1}"#));
        let get = called("Get", &[one.clone(), two]).await;
        assert_eq!(get, pair("GET /v/1?b=2.5 HTTP/1.1", ""));
        let hand = called("", &[Value::from("put"), Value::from("/x"), one.clone()]).await;
        assert_eq!(hand, pair("PUT /x HTTP/1.1", "1"));
        let few = called("Add", &[one]).await.expect_err("too few");
        assert!(few.0.contains("require 2 parameters but only got 1"), "{few:?}");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn what_fails_is_tried_again_as_often_as_the_options_say() {
        let f = made("Add", &echo(2).await, "rest", true).expect("made");
        let args = [Value::Float(1.0), Value::Float(2.0)];
        assert!(f.call(&args, None).is_ok());
        let f = made("Add", &echo(3).await, "rest", true).expect("made");
        let error = f.call(&args, None).expect_err("three tries");
        assert!(error.0.contains("503"), "{error:?}");
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn private_addresses_and_unknown_protocols_are_refused() {
        let f = made("Raw", &echo(0).await, "rest", false).expect("made");
        let error = f.call(&[Value::from("x")], None).expect_err("guarded");
        assert!(error.0.contains("127.0.0.1"), "{error:?}");
        let error = made("Raw", "tcp://127.0.0.1:9", "grpc", true).map(drop).expect_err("grpc");
        assert!(error.0.contains("not in this build"), "{error:?}");
        let error = made("Nope", "http://127.0.0.1:9", "rest", true).map(drop).expect_err("nope");
        assert!(error.0.contains("no method Nope"), "{error:?}");
    }
}
