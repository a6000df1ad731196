//! The properties that `rest` and `httppull` share.

use std::sync::Arc;

use bytes::Bytes;
use http::header::{self, HeaderMap, HeaderName, HeaderValue};
use http::{StatusCode, Uri};
use rekuiper_formats::codec::Compression;
use rekuiper_value::{Object, Str, Value, json};
use serde_json::{Map, Value as Json};

pub use http::Method;

use super::client::{ANSWER_BYTES_MAX, Answer, Call, HttpClient};
use super::{BodyType, MaybeTemplate, OAuth};
use crate::{ConnectError, Props, Services, tls};

const TIMEOUT_MS: i64 = 5_000;

/// See the module's doc.
pub struct HttpConf {
    pub url: String,
    pub method: Method,
    pub body_type: BodyType,
    pub timeout_ms: i64,
    /// `responseType: body`: the answer's own `code` says whether it worked.
    pub code_in_body: bool,
    pub packed: Option<Compression>,
    pub debug: bool,
    pub oauth: Option<OAuth>,
    pub client: HttpClient,
}

impl HttpConf {
    pub fn new(props: &Props, suffix: &str) -> Result<Self, ConnectError> {
        let url = format!("{}{suffix}", props.str_or("url", "http://localhost")?);
        if !url.contains("{{") {
            parse_url(&url).map_err(|e| ConnectError { fault: crate::Fault::Config, ..e })?;
        }
        let method = match props.str_or("method", "GET")? {
            template if template.contains("{{") => Method::GET,
            word => method(word)?,
        };
        let body_type = match props.str_or("bodyType", "")? {
            "" if method == Method::GET => BodyType::None,
            "" => BodyType::Json,
            template if template.contains("{{") => BodyType::Json,
            word => BodyType::by_name(word)?,
        };
        let packed = match props.str_or("compression", "")? {
            "" => None,
            name => {
                Some(Compression::by_name(name).map_err(|e| ConnectError::config(e.to_string()))?)
            }
        };
        let code_in_body = match props.str_or("responseType", "code")? {
            "code" => false,
            "body" => true,
            other => {
                return Err(ConnectError::config(format!(
                    "property responseType must be code or body, found {other}"
                )));
            }
        };
        let timeout_ms = props.millis("timeout", TIMEOUT_MS)?;
        if timeout_ms < 0 {
            return Err(ConnectError::config("property timeout must not be negative"));
        }
        Ok(HttpConf {
            url,
            method,
            body_type,
            timeout_ms: if timeout_ms == 0 { TIMEOUT_MS } else { timeout_ms },
            code_in_body,
            packed,
            debug: props.bool("debugResp", false)?,
            oauth: OAuth::new(props)?,
            client: HttpClient::new(tls::client_config(props)?),
        })
    }

    /// Sends; an answer that says it did not work is an error.
    pub async fn call(&self, services: &Services, call: Call) -> Result<Bytes, ConnectError> {
        let url = call.url.clone();
        let answer = self.client.send(services, call, self.timeout_ms).await?;
        let body = self.unpack(&answer)?;
        if self.debug {
            let text = String::from_utf8_lossy(&body);
            tracing::info!(%url, status = answer.status.as_u16(), "http answer: {text}");
        }
        good_status(&url, answer.status, &body)?;
        Ok(body)
    }

    fn unpack(&self, answer: &Answer) -> Result<Bytes, ConnectError> {
        let Some(packed) = self.packed else { return Ok(answer.body.clone()) };
        if !answer.headers.contains_key(header::CONTENT_ENCODING) {
            return Ok(answer.body.clone());
        }
        let mut plain = Vec::new();
        packed
            .decompress(&answer.body, ANSWER_BYTES_MAX, &mut plain)
            .map_err(|e| ConnectError::data(format!("http answer: {e}")))?;
        Ok(plain.into())
    }

    /// The objects of an answer, each with a good `code` where that is asked for.
    pub fn rows(&self, body: &[u8]) -> Result<Vec<Arc<Object>>, ConnectError> {
        let wrong = |found: &str| {
            ConnectError::data(format!(
                "http answer must be a JSON object or a list of objects, found {found}"
            ))
        };
        let rows = match json::parse(body).map_err(|e| wrong(&e.to_string()))? {
            Value::Object(row) => vec![row],
            Value::Array(items) => {
                let row = |item: &Value| {
                    item.as_object().cloned().ok_or_else(|| wrong(item.kind_name()))
                };
                items.iter().map(row).collect::<Result<Vec<_>, _>>()?
            }
            other => return Err(wrong(other.kind_name())),
        };
        if self.code_in_body {
            rows.iter().try_for_each(|row| good_code(row))?;
        }
        Ok(rows)
    }
}

pub fn method(word: &str) -> Result<Method, ConnectError> {
    match word.to_ascii_uppercase().as_str() {
        "GET" => Ok(Method::GET),
        "POST" => Ok(Method::POST),
        "PUT" => Ok(Method::PUT),
        "DELETE" => Ok(Method::DELETE),
        _ => Err(ConnectError::config(format!(
            "property method must be get, post, put or delete, found {word}"
        ))),
    }
}

pub fn parse_url(url: &str) -> Result<Uri, ConnectError> {
    let parsed: Result<Uri, _> = url.parse();
    match parsed {
        Ok(uri) if matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some() => {
            Ok(uri)
        }
        Ok(_) => Err(ConnectError::data(format!(
            "url {url} is not valid: it must begin with http:// or https:// and name a host"
        ))),
        Err(e) => Err(ConnectError::data(format!("url {url} is not valid: {e}"))),
    }
}

/// A status that asks to come again is an IO error, any other bad one the payload's.
fn good_status(url: &Uri, status: StatusCode, body: &[u8]) -> Result<(), ConnectError> {
    if status.is_success() {
        return Ok(());
    }
    let start = String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned();
    let text = format!("{url} answered {status}: {start}");
    let again = status.is_server_error() || matches!(status.as_u16(), 408 | 429);
    Err(if again { ConnectError::io(text) } else { ConnectError::data(text) })
}

fn good_code(row: &Object) -> Result<(), ConnectError> {
    match row.get("code").and_then(Value::as_f64) {
        Some(code) if (200.0..300.0).contains(&code) => Ok(()),
        Some(code) => Err(ConnectError::data(format!("http answer has code {code}"))),
        None => Err(ConnectError::data(
            "http answer has no numeric code, which responseType body asks for",
        )),
    }
}

/// Headers from a property: an object, or text with an object in JSON.
pub fn header_texts(props: &Props, key: &str) -> Result<Vec<(String, String)>, ConnectError> {
    let wrong = || ConnectError::config(format!("property {key} must be an object of texts"));
    match props.get(key) {
        None => Ok(Vec::new()),
        Some(Json::String(s)) if s.is_empty() => Ok(Vec::new()),
        Some(Json::String(s)) => {
            let map: Map<String, Json> = serde_json::from_str(s).map_err(|_| wrong())?;
            Ok(map.iter().map(|(k, v)| (k.clone(), plain(v))).collect())
        }
        Some(Json::Object(map)) => Ok(map.iter().map(|(k, v)| (k.clone(), plain(v))).collect()),
        Some(_) => Err(wrong()),
    }
}

fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// Header texts as templates.
pub fn header_templates(
    props: &Props,
    key: &str,
) -> Result<Vec<(String, MaybeTemplate)>, ConnectError> {
    let texts = header_texts(props, key)?;
    texts.into_iter().map(|(k, v)| Ok((k, MaybeTemplate::new(key, &v)?))).collect()
}

pub fn headers_of(
    texts: impl IntoIterator<Item = (String, String)>,
) -> Result<HeaderMap, ConnectError> {
    let mut map = HeaderMap::new();
    for (name, value) in texts {
        let bad = |e: &dyn std::fmt::Display| {
            ConnectError::data(format!("header {name} is not valid: {e}"))
        };
        let key = HeaderName::from_bytes(name.as_bytes()).map_err(|e| bad(&e))?;
        map.append(key, HeaderValue::from_str(&value).map_err(|e| bad(&e))?);
    }
    Ok(map)
}

/// A JSON object as template data.
pub fn object_of(map: &Map<String, Json>) -> Object {
    let value = |v: &Json| json::parse(v.to_string().as_bytes()).unwrap_or_default();
    map.iter().map(|(k, v)| (Str::from(k.as_str()), value(v))).collect()
}
