//! One request, with the parameters of its path already taken apart.

use axum::body::Body;
use axum::extract::{FromRequest, Multipart, Request};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method};
use bytes::Bytes;
use http_body_util::{BodyExt, Limited};
use serde_json::{Map, Value};

use super::{check_name, json};
use crate::error::{ApiError, ApiResult};

/// Bodies larger than this are refused, except uploads, which go to a file piece by piece.
pub const MAX_BODY: usize = 64 << 20;

pub struct Call {
    parts: Parts,
    body: Option<Body>,
    params: Vec<(&'static str, String)>,
}

impl Call {
    /// `template` is the path of the route, such as `/rules/{name}/status`.
    pub fn new(request: Request, template: &'static str) -> Call {
        let (parts, body) = request.into_parts();
        let params = params(template, parts.uri.path());
        Call {
            parts,
            body: Some(body),
            params,
        }
    }

    pub fn method(&self) -> &Method {
        &self.parts.method
    }

    pub fn path(&self) -> &str {
        self.parts.uri.path()
    }

    pub fn headers(&self) -> &HeaderMap {
        &self.parts.headers
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        self.parts.headers.get(name).and_then(|v| v.to_str().ok())
    }

    /// A part of the path, as it is.
    pub fn param(&self, key: &str) -> &str {
        self.params
            .iter()
            .find(|(k, _)| *k == key)
            .map_or("", |(_, v)| v)
    }

    /// A part of the path that must be a name.
    pub fn name(&self, key: &str) -> ApiResult<&str> {
        check_name(key, self.param(key))
    }

    pub fn query(&self, key: &str) -> Option<String> {
        let query = self.parts.uri.query()?;
        query.split('&').find_map(|pair| {
            let (k, v) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(k, true) == key).then(|| decode(v, true))
        })
    }

    /// Whether a query parameter says yes, in the spellings Go takes for true.
    pub fn flag(&self, key: &str) -> bool {
        let yes = ["1", "t", "T", "true", "TRUE", "True"];
        self.query(key).is_some_and(|v| yes.contains(&v.as_str()))
    }

    pub async fn bytes(&mut self) -> ApiResult<Bytes> {
        let body = self.body.take().unwrap_or_default();
        match Limited::new(body, MAX_BODY).collect().await {
            Ok(all) => Ok(all.to_bytes()),
            Err(e) => Err(ApiError::bad(format!(
                "the request body cannot be read: {e}"
            ))),
        }
    }

    pub async fn text(&mut self) -> ApiResult<String> {
        String::from_utf8(self.bytes().await?.into())
            .map_err(|_| ApiError::bad("the request body is not UTF-8 text"))
    }

    /// The JSON object that the body begins with.
    pub async fn object(&mut self) -> ApiResult<Map<String, Value>> {
        json::object(&self.bytes().await?)
    }

    /// The JSON value that the body begins with.
    pub async fn value(&mut self) -> ApiResult<Value> {
        json::value(&self.bytes().await?)
    }

    pub fn is_multipart(&self) -> bool {
        self.header("content-type")
            .is_some_and(|t| t.starts_with("multipart/"))
    }

    pub async fn multipart(&mut self) -> ApiResult<Multipart> {
        let body = self.body.take().unwrap_or_default();
        let request = Request::from_parts(self.parts.clone(), body);
        Multipart::from_request(request, &())
            .await
            .map_err(|e| ApiError::bad(format!("the body is not multipart/form-data: {e}")))
    }
}

/// Whether `template` stands for `path`.
pub fn covers(template: &str, path: &str) -> bool {
    let (mut t, mut p) = (template.split('/'), path.split('/'));
    loop {
        match (t.next(), p.next()) {
            (None, None) => return true,
            (Some(t), Some(p)) if t == p || (t.starts_with('{') && !p.is_empty()) => {}
            _ => return false,
        }
    }
}

fn params(template: &'static str, path: &str) -> Vec<(&'static str, String)> {
    template
        .split('/')
        .zip(path.split('/'))
        .filter_map(|(t, p)| {
            let key = t.strip_prefix('{')?.strip_suffix('}')?;
            Some((key, decode(p, false)))
        })
        .collect()
}

/// Undoes percent encoding; what is not well formed stays as it is.
fn decode(s: &str, plus: bool) -> String {
    let bytes = s.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut i = 0;
    while i < bytes.len() {
        let hex = |b: Option<&u8>| b.and_then(|b| (*b as char).to_digit(16));
        match (bytes[i], hex(bytes.get(i + 1)), hex(bytes.get(i + 2))) {
            (b'%', Some(a), Some(b)) => {
                out.push((a * 16 + b) as u8);
                i += 2;
            }
            (b'+', ..) if plus => out.push(b' '),
            (b, ..) => out.push(b),
        }
        i += 1;
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded_and_never_empty() {
        assert_eq!(
            params("/a/{x}/b/{y}", "/a/p%20q/b/%2e"),
            [("x", "p q".into()), ("y", ".".into())]
        );
        assert!(covers("/a/{x}", "/a/b"));
        assert!(!covers("/a/{x}", "/a/"));
        assert!(!covers("/a/{x}", "/a/b/c"));
        assert_eq!(decode("%zz%4", true), "%zz%4");
    }
}
