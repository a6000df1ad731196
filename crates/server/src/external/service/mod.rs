//! A method of an external service as a function: one exchange a call. A protocol is a file here.

mod grpc;
mod rest;

use std::path::PathBuf;
use std::sync::Arc;

use rekuiper_connect::{ConnectError, Services};
use rekuiper_formats::proto::{Method, Schema};
use rekuiper_functions::ExternalFn;
use rekuiper_value::{Error, Object, Result, Str, Value};
use serde_json::Value as Json;

use crate::catalog::ServiceFunction;

/// Longest time that one try of a call may take.
const TIMEOUT_MS: i64 = 5_000;

/// Makes the function; an error says what is wrong with its description.
pub fn make(
    function: &ServiceFunction,
    interface: &Json,
    folders: &[PathBuf; 2],
    services: Arc<Services>,
) -> Result<Arc<dyn ExternalFn>> {
    let name = &function.name;
    let wrong = |e: ConnectError| Error::new(format!("function {name}: {}", e.text));
    let schemaless = interface["Schema"]["Schemaless"].as_bool().unwrap_or(false);
    let method = match schemaless {
        true => None,
        false => Some(method(function, interface, folders)?),
    };
    match (interface["Protocol"].as_str().unwrap_or_default(), method) {
        ("rest", method) => {
            let options = interface["Options"].as_object().cloned().unwrap_or_default();
            let made = rest::Rest::new(function, method, options, services);
            Ok(Arc::new(made.map_err(wrong)?))
        }
        ("grpc", Some(method)) => {
            Ok(Arc::new(grpc::Grpc::new(function, method, services).map_err(wrong)?))
        }
        ("grpc", None) => Err(Error::new(format!(
            "function {name}: interface {} of protocol grpc needs a schema",
            function.interface
        ))),
        (other, _) => Err(Error::new(format!(
            "function {name}: protocol {other} of interface {} is not in this build; rest and grpc \
             are",
            function.interface
        ))),
    }
}

/// A schema file of one of the folders; its name cannot leave them.
pub fn schema_text(folders: &[PathBuf; 2], wanted: &str) -> Option<String> {
    let inside = !wanted.split('/').any(|part| part == "..") && !wanted.starts_with('/');
    let mut found = folders.iter().filter(|_| inside);
    found.find_map(|folder| std::fs::read_to_string(folder.join(wanted)).ok())
}

fn method(f: &ServiceFunction, interface: &Json, folders: &[PathBuf; 2]) -> Result<Method> {
    let file = interface["Schema"]["SchemaFile"].as_str().unwrap_or_default();
    let folders = folders.clone();
    let open = move |wanted: &str| schema_text(&folders, wanted);
    let methods = Schema::compile(file, open)?.methods();
    let found = methods.into_iter().find(|m| m.name == f.method);
    found.ok_or_else(|| {
        Error::new(format!("function {}: schema {file} has no method {}", f.name, f.method))
    })
}

fn wrong(function: &str, why: impl std::fmt::Display) -> Error {
    Error::new(format!("function {function}: {why}"))
}

/// Waits for an exchange; functions are called by code that is not async.
fn waited<T>(function: &str, exchange: impl Future<Output = T>) -> Result<T> {
    rekuiper_rt::task::wait_for(exchange).ok_or_else(|| {
        wrong(function, "it can only be called while the engine runs on several threads")
    })
}

/// The input message: one map by the fields' names, else the arguments in the fields' order. For a
/// wrapper of a single value that value.
fn input(function: &str, method: &Method, args: &[Value]) -> Result<Value> {
    let fields = method.input.field_names();
    if let [one @ Value::Object(map)] = args
        && (fields.len() != 1 || map.contains_key(&fields[0]))
    {
        return Ok(one.clone());
    }
    if args.len() != fields.len() {
        let (wanted, got) = (fields.len(), args.len());
        return Err(wrong(function, format!("require {wanted} parameters but only got {got}")));
    }
    if let ([one], true) = (args, is_wrapper(method.input.full_name())) {
        return Ok(one.clone());
    }
    let members = fields.iter().zip(args).filter(|(_, v)| !v.is_null());
    let members = members.map(|(name, v)| (Str::from(&**name), v.clone()));
    Ok(Value::object(members.collect::<Object>()))
}

fn is_empty(full_name: &str) -> bool {
    full_name == "google.protobuf.Empty"
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
        make(&function, &interface, &[folder.clone(), folder], services)
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
        let map = rekuiper_value::json::parse(br#"{"b":1,"a":2}"#).expect("a map");
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
        let error = made("Raw", "tcp://127.0.0.1:9", "msgpack-rpc", true);
        let error = error.map(drop).expect_err("msgpack-rpc");
        assert!(error.0.contains("rest and grpc"), "{error:?}");
        let error = made("Nope", "http://127.0.0.1:9", "rest", true).map(drop).expect_err("nope");
        assert!(error.0.contains("no method Nope"), "{error:?}");
    }
}
