//! What a client is told when a request is refused: a numeric code, an HTTP status, a sentence.

use axum::http::StatusCode;

/// eKuiper's numeric codes, as far as this server gives them.
pub mod code {
    pub const UNDEFINED: u16 = 1000;
    pub const GENERAL: u16 = 1001;
    pub const NOT_FOUND: u16 = 1002;
    pub const IO: u16 = 1003;
    pub const EXECUTOR: u16 = 2201;
    pub const STREAM: u16 = 3000;
    pub const CONF_KEY: u16 = 5000;
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    pub code: u16,
    pub status: StatusCode,
    pub message: String,
    /// The message alone is the body.
    pub bare: bool,
}

pub type ApiResult<T> = Result<T, ApiError>;

impl ApiError {
    pub fn new(code: u16, message: impl Into<String>) -> ApiError {
        let status = match code {
            code::NOT_FOUND => StatusCode::NOT_FOUND,
            _ => StatusCode::BAD_REQUEST,
        };
        ApiError {
            code,
            status,
            message: message.into(),
            bare: false,
        }
    }

    /// The default: the request is wrong in some way.
    pub fn bad(message: impl Into<String>) -> ApiError {
        ApiError::new(code::UNDEFINED, message)
    }

    pub fn not_found(message: impl Into<String>) -> ApiError {
        ApiError::new(code::NOT_FOUND, message)
    }

    pub fn stream(message: impl Into<String>) -> ApiError {
        ApiError::new(code::STREAM, message)
    }

    pub fn conf_key(message: impl Into<String>) -> ApiError {
        ApiError::new(code::CONF_KEY, message)
    }

    /// Text without JSON around it.
    pub fn bare(status: StatusCode, message: impl Into<String>) -> ApiError {
        ApiError {
            code: code::UNDEFINED,
            status,
            message: message.into(),
            bare: true,
        }
    }

    pub fn with_status(mut self, status: StatusCode) -> ApiError {
        self.status = status;
        self
    }

    /// The same refusal under another code; 404 stays with 1002 alone.
    pub fn with_code(self, code: u16) -> ApiError {
        ApiError::new(code, self.message)
    }

    pub fn body(&self) -> String {
        if self.bare {
            return format!("{}\n", self.message);
        }
        format!(
            "{}\n",
            serde_json::json!({"error": self.code, "message": self.message})
        )
    }
}

impl std::fmt::Display for ApiError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for ApiError {}

impl From<rekuiper_store::StoreError> for ApiError {
    fn from(e: rekuiper_store::StoreError) -> Self {
        ApiError::bad(format!("the change was not kept: {e}"))
            .with_status(StatusCode::INTERNAL_SERVER_ERROR)
    }
}
