//! Traces: what happened to single rows.

use std::sync::Arc;

use axum::http::StatusCode;

use super::{Route, handler};
use crate::App;
use crate::engine::TraceStrategy;
use crate::error::{ApiError, ApiResult};
use crate::web::json::text;
use crate::web::{Call, Reply};

pub static ROUTES: &[Route] = &[
    Route::post(
        "/rules/{name}/trace/start",
        handler!(start),
        "Begins to trace rows of a rule.",
    )
    .takes("{strategy: \"always\" | \"head\"}"),
    Route::post(
        "/rules/{name}/trace/stop",
        handler!(stop),
        "Ends tracing rows of a rule.",
    ),
    Route::post(
        "/tracer",
        handler!(exporter),
        "Sends traces to a collector, or no more.",
    )
    .takes("{action: \"start\" | \"stop\", service_name, collector_url}"),
    Route::get(
        "/trace/rule/{name}",
        handler!(of_rule),
        "Names the traces of a rule (?limit=).",
    )
    .gives("[traceId]"),
    Route::get("/trace/{id}", handler!(one), "Gives a trace.")
        .gives("{name, traceID, spanID, parentSpanID, attribute, startTime, endTime, ChildSpan}"),
];

async fn switch(app: &App, id: &str, strategy: Option<TraceStrategy>) -> ApiResult<Reply> {
    let rule = app.rules.get(id).filter(|r| r.state().is_running());
    let rule = rule.ok_or_else(|| ApiError::bad(format!("rule {id} is not running")))?;
    app.engine.set_trace(id, strategy)?;
    rule.set_traced(strategy.is_some());
    Ok(Reply::empty())
}

async fn start(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let id = call.name("name")?.to_owned();
    let o = call.object().await?;
    let strategy = match text(&o, "strategy")?.unwrap_or_default() {
        "head" => TraceStrategy::Head,
        _ => TraceStrategy::Always,
    };
    switch(&app, &id, Some(strategy)).await
}

async fn stop(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    switch(&app, call.name("name")?, None).await
}

async fn exporter(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let o = call.object().await?;
    let on = text(&o, "action")? == Some("start");
    let service = text(&o, "service_name")?.unwrap_or("kuiperd-service");
    let collector = text(&o, "collector_url")?.unwrap_or_default();
    app.engine.set_exporter(on, service, collector)?;
    Ok(Reply::text("success"))
}

async fn of_rule(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let limit = call
        .query("limit")
        .and_then(|l| l.parse().ok())
        .filter(|l| *l > 0);
    let ids = app
        .engine
        .traces_of(call.name("name")?, limit.unwrap_or(usize::MAX));
    Ok(Reply::json(&ids.into()))
}

async fn one(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    match app.engine.trace(call.param("id")) {
        Some(trace) => Ok(Reply::json(&trace)),
        None => Err(ApiError::bare(StatusCode::NOT_FOUND, "Not Found")),
    }
}
