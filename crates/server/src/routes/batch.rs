//! Several requests in one.

use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, Method, Request};
use http_body_util::BodyExt;
use serde_json::{Map, Value};
use tower::ServiceExt;

use super::{Route, handler, router};
use crate::App;
use crate::error::ApiResult;
use crate::web::json::{member, text, wrong};
use crate::web::{Call, Reply};

pub static ROUTES: &[Route] = &[Route::post(
    "/batch/req",
    handler!(run),
    "Runs requests one after the other.",
)
.takes("[{method, path, body?: text}]")
.gives("[{code, response?, error?}]")];

/// Requests in one batch.
const MOST: usize = 1000;

async fn run(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let list = match call.value().await? {
        Value::Array(list) if list.len() <= MOST => list,
        Value::Array(_) => {
            return Err(crate::error::ApiError::bad(format!(
                "more than {MOST} requests"
            )));
        }
        other => return Err(wrong("the request body", "a list of requests", &other)),
    };
    let router = router(app);
    let mut out = Vec::new();
    for entry in &list {
        let mut o = Map::new();
        match request(entry, call.headers()) {
            Err(why) => {
                o.insert("code".into(), 0.into());
                o.insert("error".into(), why.into());
            }
            Ok(request) => {
                // A router answers always.
                let Ok(response) = router.clone().oneshot(request).await;
                o.insert("code".into(), response.status().as_u16().into());
                let body = response.into_body().collect().await;
                let body = body.map(|b| b.to_bytes()).unwrap_or_default();
                if !body.is_empty() {
                    o.insert("response".into(), String::from_utf8_lossy(&body).into());
                }
            }
        }
        out.push(o.into());
    }
    Ok(Reply::json(&Value::Array(out)))
}

fn request(entry: &Value, headers: &HeaderMap) -> Result<Request<Body>, String> {
    let Value::Object(o) = entry else {
        return Err("a request must be an object".into());
    };
    let part = |key: &str| {
        text(o, key)
            .map_err(|e| e.message)
            .map(Option::unwrap_or_default)
    };
    let (method, path) = (part("method")?, part("path")?);
    let method: Method = method
        .parse()
        .map_err(|_| format!("{method:?} is no method"))?;
    if path.starts_with("/batch/req") {
        return Err("a batch cannot hold a batch".into());
    }
    let body = match member(o, "body") {
        None => String::new(),
        Some(Value::String(s)) => s.clone(),
        Some(other) => other.to_string(),
    };
    let mut request = Request::builder().method(method).uri(path);
    for (name, value) in headers {
        let own = ["content-length", "transfer-encoding", "connection", "host"];
        if !own.contains(&name.as_str()) {
            request = request.header(name, value);
        }
    }
    request
        .body(Body::from(body))
        .map_err(|e| format!("{path:?} is no path: {e}"))
}
