//! Protocol rest: one HTTP request a call, with bodies of JSON.

use std::sync::Arc;

use axum::http::{HeaderMap, HeaderValue, Method, header};
use rekuiper_connect::http::{Answer, Call, HttpClient, header_texts, headers_of, parse_url};
use rekuiper_connect::{ConnectError, Props, Services};
use rekuiper_formats::proto::Method as ProtoMethod;
use rekuiper_functions::{Cx, ExternalFn};
use rekuiper_value::{Error, Result, Value, json};
use serde_json::{Map, Value as Json};

use super::{TIMEOUT_MS, input, is_empty, waited, wrong};
use crate::catalog::ServiceFunction;
use crate::external::uri;

/// Most tries after the first, whatever the options say.
const RETRIES_MAX: i64 = 10;
/// Longest wait between two tries.
const RETRY_WAIT_MAX_MS: i64 = 5_000;

/// A function over HTTP with JSON bodies.
pub struct Rest {
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
        let answer = waited(&self.name, self.exchange(call))??;
        self.result(&answer)
    }
}

impl Rest {
    pub fn new(
        function: &ServiceFunction,
        method: Option<ProtoMethod>,
        options: Map<String, Json>,
        services: Arc<Services>,
    ) -> std::result::Result<Rest, ConnectError> {
        let props = Props::new(options);
        let mut headers = headers_of(header_texts(&props, "headers")?)?;
        if !headers.contains_key(header::CONTENT_TYPE) {
            headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        Ok(Rest {
            name: function.name.clone(),
            base: function.addr.trim_end_matches('/').to_owned(),
            method,
            headers,
            client: HttpClient::new(rekuiper_connect::tls::client_config(&props)?),
            services,
            retries: props.int("retryCount", 0)?.clamp(0, RETRIES_MAX),
            retry_ms: props.millis("retryInterval", 0)?.clamp(0, RETRY_WAIT_MAX_MS),
        })
    }

    fn wrong(&self, why: impl std::fmt::Display) -> Error {
        wrong(&self.name, why)
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
        let input = json::to_serde(&input(&self.name, method, args)?);
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

    fn result(&self, answer: &Answer) -> Result<Value> {
        if !answer.status.is_success() {
            let start = String::from_utf8_lossy(&answer.body[..answer.body.len().min(200)]);
            return Err(self.wrong(format!("it answered {}: {start}", answer.status)));
        }
        let output = self.method.as_ref().map(|m| m.output.full_name());
        if output.is_some_and(is_empty) {
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
