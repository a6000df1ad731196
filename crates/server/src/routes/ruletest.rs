//! Trial runs: a rule on rows that come with the request, its results as server-sent events.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Route, handler};
use crate::App;
use crate::config::duration;
use crate::engine::{Mock, TrialDef};
use crate::error::{ApiError, ApiResult};
use crate::web::json::{boolean, member, nested, text, wrong};
use crate::web::{Call, Reply, check_name};

pub static ROUTES: &[Route] = &[
    Route::post("/ruletest", handler!(create), "Prepares a trial run.")
        .takes("{id, sql, mockSource?: {stream: {data: [row], interval, loop}}, sinkProps?}")
        .gives("{id, port}: results come at http://HOST:port/test/ID"),
    Route::post(
        "/ruletest/{name}/start",
        handler!(start),
        "Starts a trial run.",
    ),
    Route::delete("/ruletest/{name}", handler!(delete), "Ends a trial run."),
];

async fn create(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let trial = parse(&call.object().await?)?;
    app.engine.check_trial(&trial).await?;
    let id = trial.id.clone();
    app.trials.create(&app.data, trial)?;
    Ok(Reply::json(&json!({"id": id, "port": app.data.port()})))
}

fn parse(o: &Map<String, Value>) -> ApiResult<TrialDef> {
    let id = text(o, "id")?.unwrap_or_default();
    check_name("trial id", id)?;
    let sql = text(o, "sql")?.unwrap_or_default();
    if sql.trim().is_empty() {
        return Err(ApiError::bad("the trial run has no sql"));
    }
    let mocks = nested(o, "mockSource")?
        .into_iter()
        .flatten()
        .map(mock)
        .collect::<ApiResult<_>>()?;
    let sink_props = nested(o, "sinkProps")?.cloned().unwrap_or_default();
    Ok(TrialDef {
        id: id.into(),
        sql: sql.into(),
        mocks,
        sink_props,
    })
}

fn mock((stream, v): (&String, &Value)) -> ApiResult<Mock> {
    let Value::Object(o) = v else {
        return Err(wrong("mockSource", "an object by stream", v));
    };
    let rows = match member(o, "data") {
        Some(Value::Array(rows)) => rows.clone(),
        None => Vec::new(),
        Some(other) => return Err(wrong("mockSource.data", "a list of rows", other)),
    };
    if let Some(odd) = rows.iter().find(|row| !row.is_object()) {
        return Err(wrong("a row of mockSource.data", "an object", odd));
    }
    let interval = member(o, "interval").map(|v| {
        let wrong = || ApiError::bad(format!("mockSource.interval: {v} is no duration"));
        duration::of(v).ok_or_else(wrong)
    });
    Ok(Mock {
        stream: stream.clone(),
        rows,
        interval_ms: interval.transpose()?.unwrap_or(1000).max(0) as u64,
        repeat: boolean(o, "loop")?.unwrap_or(false),
    })
}

async fn start(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let id = call.name("name")?;
    app.trials.start(app.engine.as_ref(), id).await?;
    Ok(Reply::text(format!("Test rule {id} was started")))
}

async fn delete(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let id = call.name("name")?;
    app.trials.delete(id);
    Ok(Reply::text(format!("Test rule {id} was stopped.")))
}
