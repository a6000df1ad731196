//! Carrying definitions from server to server: as one JSON object of twelve parts, or as YAML.

mod bundle;
mod export;
mod import;
mod v2;

pub use bundle::{Bundle, KEYS};
pub use export::export;
pub use import::{import, import_ruleset, nothing_wrong, status};
pub use v2::{export_yaml, import_yaml};

use serde_json::{Map, Value};

use crate::App;
use crate::error::{ApiError, ApiResult};
use crate::web::json::text;

/// Exactly one of `content` and `file`.
pub fn check_request(o: &Map<String, Value>) -> ApiResult<()> {
    let given = |key: &str| Ok::<_, ApiError>(text(o, key)?.is_some_and(|s| !s.is_empty()));
    match (given("content")?, given("file")?) {
        (true, true) => Err(ApiError::bad(
            "the request has both content and file, give one",
        )),
        (false, false) => Err(ApiError::bad("the request has neither content nor file")),
        _ => Ok(()),
    }
}

/// The text to import.
pub async fn content(app: &App, o: &Map<String, Value>) -> ApiResult<String> {
    check_request(o)?;
    match text(o, "content")?.filter(|s| !s.is_empty()) {
        Some(content) => Ok(content.to_owned()),
        None => app.fetch.text(text(o, "file")?.unwrap_or_default()).await,
    }
}
