//! OAuth: a token fetched before the first request, and again before it is too old. The token's
//! answer is the data of templates in headers and bodies.

use bytes::Bytes;
use http::header::{self, HeaderValue};
use rekuiper_value::{Object, Value};
use tokio::sync::Mutex;

use super::client::{Call, HttpClient};
use super::conf::{header_templates, headers_of, parse_url};
use super::{MaybeTemplate, Method};
use crate::{ConnectError, Props, Services};

/// One request for a token.
struct Ask {
    url: String,
    headers: Vec<(String, MaybeTemplate)>,
    body: MaybeTemplate,
}

pub struct OAuth {
    access: Ask,
    refresh: Option<Ask>,
    /// Template of the seconds that a token holds; empty: for ever.
    expire: MaybeTemplate,
    token: Mutex<Option<Token>>,
}

struct Token {
    data: Value,
    since_ms: i64,
    expire_ms: i64,
}

impl OAuth {
    pub fn new(props: &Props) -> Result<Option<OAuth>, ConnectError> {
        let all = Props::new(props.map("oauth")?);
        if all.0.is_empty() {
            return Ok(None);
        }
        let access = Props::new(all.map("access")?);
        if access.0.is_empty() {
            return Err(ConnectError::config("property oauth must have access: {url, body}"));
        }
        let Some(access_ask) = Ask::new(&access)? else {
            tracing::warn!("oauth is off: its access.url is empty");
            return Ok(None);
        };
        let refresh = Ask::new(&Props::new(all.map("refresh")?))?;
        let expire = match access.get("expire") {
            Some(serde_json::Value::Number(n)) => n.to_string(),
            _ => access.str_or("expire", "")?.to_owned(),
        };
        Ok(Some(OAuth {
            access: access_ask,
            refresh,
            expire: MaybeTemplate::new("oauth.access.expire", &expire)?,
            token: Mutex::new(None),
        }))
    }

    /// The token's answer, fetched or renewed where needed.
    pub async fn token(
        &self,
        services: &Services,
        client: &HttpClient,
        timeout_ms: i64,
    ) -> Result<Value, ConnectError> {
        let mut token = self.token.lock().await;
        let now = services.clock.now_ms();
        if let Some(held) = &*token
            && (held.expire_ms <= 0 || (now - held.since_ms) * 2 <= held.expire_ms)
        {
            return Ok(held.data.clone());
        }
        let old = token.as_ref().map(|t| t.data.clone());
        let (ask, data) = match (&self.refresh, old) {
            (Some(refresh), Some(old)) => (refresh, old),
            _ => (&self.access, Value::object(Object::new())),
        };
        let data = ask.send(services, client, timeout_ms, &data).await?;
        let expire = self.expire.render(&data)?;
        let seconds = match expire.trim() {
            "" => 0.0,
            text => text.parse().map_err(|_| {
                ConnectError::data(format!("oauth: expire must be seconds, found {text}"))
            })?,
        };
        let expire_ms = (seconds * 1000.0_f64) as i64;
        *token = Some(Token { data: data.clone(), since_ms: now, expire_ms });
        Ok(data)
    }

    /// The next request asks for a new token: this one was refused.
    pub async fn forget(&self) {
        *self.token.lock().await = None;
    }
}

impl Ask {
    fn new(props: &Props) -> Result<Option<Ask>, ConnectError> {
        let url = props.str_or("url", "")?.to_owned();
        if url.is_empty() {
            return Ok(None);
        }
        parse_url(&url).map_err(|e| ConnectError::config(format!("oauth: {e}")))?;
        let headers = header_templates(props, "headers")?;
        let body = match props.get("body") {
            None => String::new(),
            Some(serde_json::Value::String(s)) => s.clone(),
            Some(other) => other.to_string(),
        };
        Ok(Some(Ask { url, headers, body: MaybeTemplate::new("oauth body", &body)? }))
    }

    async fn send(
        &self,
        services: &Services,
        client: &HttpClient,
        timeout_ms: i64,
        data: &Value,
    ) -> Result<Value, ConnectError> {
        let texts: Result<Vec<_>, ConnectError> =
            self.headers.iter().map(|(k, t)| Ok((k.clone(), t.render(data)?))).collect();
        let mut headers = headers_of(texts?)?;
        headers
            .entry(header::CONTENT_TYPE)
            .or_insert(HeaderValue::from_static("application/json"));
        let call = Call {
            method: Method::POST,
            url: parse_url(&self.url)?,
            headers,
            body: Bytes::from(self.body.render(data)?),
        };
        let answer = client.send(services, call, timeout_ms).await?;
        if !answer.status.is_success() {
            let text = format!("oauth: {} answered {}", self.url, answer.status);
            return Err(match answer.status.is_server_error() {
                true => ConnectError::io(text),
                false => ConnectError::data(text),
            });
        }
        let wrong = || ConnectError::data(format!("oauth: {} answered no JSON object", self.url));
        match rekuiper_value::json::parse(&answer.body).map_err(|_| wrong())? {
            Value::Array(items) => items.first().cloned().ok_or_else(wrong),
            object @ Value::Object(_) => Ok(object),
            _ => Err(wrong()),
        }
    }
}
