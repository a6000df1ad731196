//! Requests of browsers from other origins.

use axum::body::Body;
use axum::http::header::HeaderValue;
use axum::http::{HeaderMap, Method, Response, StatusCode};

const METHODS: &str = "POST,GET,PUT,DELETE,HEAD";
const HEADERS: &str = "Accept,Accept-Language,Content-Type,Content-Language,Origin,Authorization";

/// The answer to a preflight, when the request is one.
pub fn preflight(method: &Method, headers: &HeaderMap) -> Option<Response<Body>> {
    if *method != Method::OPTIONS || !headers.contains_key("access-control-request-method") {
        return None;
    }
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::OK;
    let h = response.headers_mut();
    h.insert(
        "access-control-allow-methods",
        HeaderValue::from_static(METHODS),
    );
    h.insert(
        "access-control-allow-headers",
        HeaderValue::from_static(HEADERS),
    );
    allow(headers.contains_key("origin"), h);
    Some(response)
}

/// Marks an answer as readable from any origin.
pub fn allow(has_origin: bool, headers: &mut HeaderMap) {
    if has_origin {
        headers.insert("access-control-allow-origin", HeaderValue::from_static("*"));
    }
}
