//! Metrics for Prometheus, and their dump to files.

use std::sync::Arc;

use axum::http::StatusCode;

use super::{Route, handler};
use crate::App;
use crate::error::{ApiError, ApiResult};
use crate::prometheus;
use crate::web::{Call, Reply};

pub static ROUTES: &[Route] = &[
    Route::get(
        "/metrics",
        handler!(metrics),
        "Gives metrics where prometheusPort is the REST port.",
    )
    .gives("Prometheus text"),
    Route::get(
        "/metrics/dump/check",
        handler!(check),
        "Says whether metrics are dumped.",
    )
    .gives("enabled or disabled"),
    Route::get(
        "/metrics/dump",
        handler!(dump),
        "Gives dumped metrics (?startTime=&endTime=, seconds).",
    )
    .gives("a zip file"),
];

async fn metrics(app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    if app.config.basic.prometheus_port != app.config.rest.port {
        return Err(ApiError::bare(StatusCode::NOT_FOUND, "404 page not found"));
    }
    Ok(Reply::text(prometheus::text(&app)).with_type(prometheus::CONTENT_TYPE))
}

async fn check(app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    Ok(Reply::text(if app.dump.enabled() {
        "enabled"
    } else {
        "disabled"
    }))
}

async fn dump(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let now = jiff::Timestamp::now().as_second();
    let second = |key: &str, default: i64| match call.query(key).filter(|v| !v.is_empty()) {
        None => Ok(default),
        Some(v) => v
            .parse()
            .map_err(|_| ApiError::bad(format!("{key}: {v:?} is no time in seconds"))),
    };
    let (from, to) = (second("startTime", now - 3600)?, second("endTime", now)?);
    let zip = app.dump.zip(from, to).map_err(ApiError::bad)?;
    Ok(Reply::attachment(
        "attachment; filename=\"metrics.zip\"",
        zip,
    ))
}
