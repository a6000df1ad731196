//! What is sent back.

use axum::body::Body;
use axum::http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use axum::http::{Response, StatusCode};
use serde_json::Value;

use crate::error::ApiError;

const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";

pub struct Reply {
    status: StatusCode,
    content_type: &'static str,
    headers: Vec<(HeaderName, HeaderValue)>,
    body: Body,
}

impl Reply {
    fn new(status: StatusCode, content_type: &'static str, body: impl Into<Body>) -> Reply {
        Reply {
            status,
            content_type,
            headers: Vec::new(),
            body: body.into(),
        }
    }

    pub fn text(text: impl Into<String>) -> Reply {
        Reply::new(StatusCode::OK, TEXT, text.into())
    }

    pub fn empty() -> Reply {
        Reply::text("")
    }

    pub fn created(text: impl Into<String>) -> Reply {
        Reply::text(text).status(StatusCode::CREATED)
    }

    pub fn json(value: &Value) -> Reply {
        Reply::json_text(value.to_string())
    }

    pub fn json_text(text: impl Into<String>) -> Reply {
        Reply::new(StatusCode::OK, JSON, text.into())
    }

    /// A file for the browser to save.
    pub fn attachment(disposition: &str, body: impl Into<Body>) -> Reply {
        let reply = Reply::new(StatusCode::OK, "application/octet-stream", body);
        reply.header("content-disposition", disposition)
    }

    pub fn with_type(mut self, content_type: &'static str) -> Reply {
        self.content_type = content_type;
        self
    }

    pub fn status(mut self, status: StatusCode) -> Reply {
        self.status = status;
        self
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Reply {
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.push((HeaderName::from_static(name), value));
        }
        self
    }

    pub fn into_response(self) -> Response<Body> {
        let mut response = Response::new(self.body);
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
        headers.extend(self.headers);
        response
    }
}

impl From<ApiError> for Reply {
    fn from(e: ApiError) -> Reply {
        Reply::text(e.body())
            .status(e.status)
            .header("x-content-type-options", "nosniff")
    }
}
