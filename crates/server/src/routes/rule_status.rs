//! What rules are doing, and how they are built.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Route, handler};
use crate::App;
use crate::engine::NodeMetrics;
use crate::error::{ApiError, ApiResult, code};
use crate::rules::Rule;
use crate::web::{Call, Reply, json};

const STATUS: &str = "{status, message, lastStartTimestamp, lastStopTimestamp, \
    nextStartTimestamp, NODE_METRIC: value}";

pub static ROUTES: &[Route] = &[
    Route::get(
        "/rules/{name}/status",
        handler!(status),
        "Gives state and metrics of a rule.",
    )
    .gives(STATUS),
    Route::get(
        "/v2/rules/{name}/status",
        handler!(status_v2),
        "As /rules/{name}/status, sorted.",
    )
    .gives(STATUS),
    Route::get(
        "/rules/status/all",
        handler!(status_all),
        "Gives the states of all rules.",
    )
    .gives("{ruleId: {status, last_exception, exceptions_total}}"),
    Route::get(
        "/rules/{name}/topo",
        handler!(topo),
        "Says which node of a rule feeds which.",
    )
    .gives("{sources: [node], edges: {node: [node]}}"),
    Route::get(
        "/rules/{name}/explain",
        handler!(explain),
        "Gives the plan of a rule.",
    )
    .gives("text, one node a line"),
    Route::get(
        "/rules/{name}/schema",
        handler!(schema),
        "Gives the output columns of a rule.",
    )
    .gives("{column: {hasIndex, index}}"),
    Route::get(
        "/rules/{name}/scantables",
        handler!(scan_tables),
        "Gives rows held by joins.",
    )
    .gives("[{emitter, content}]"),
    Route::get("/rules/usage/cpu", handler!(cpu), "Gives CPU time by rule.").gives("{ruleId: ms}"),
];

/// State, times and numbers, in their order.
fn status_of(app: &App, rule: &Rule) -> Map<String, Value> {
    let m = rule.machine();
    let mut out = Map::new();
    out.insert("status".into(), m.state.word().into());
    out.insert("message".into(), m.message.into());
    out.insert("lastStartTimestamp".into(), m.last_start.into());
    out.insert("lastStopTimestamp".into(), m.last_stop.into());
    out.insert("nextStartTimestamp".into(), m.next_start.into());
    if rule.ever_started() {
        for (node, metrics) in app.engine.metrics(&rule.id) {
            numbers(&mut out, &node, &metrics);
        }
    }
    out
}

fn numbers(out: &mut Map<String, Value>, node: &str, m: &NodeMetrics) {
    let mut put = |suffix: &str, v: Value| drop(out.insert(format!("{node}_{suffix}"), v));
    put("records_in_total", m.records_in.into());
    put("records_out_total", m.records_out.into());
    put("messages_processed_total", m.messages_processed.into());
    put("process_latency_us", m.process_latency_us.into());
    put("buffer_length", m.buffer_length.into());
    put("last_invocation", m.last_invocation.into());
    put("exceptions_total", m.exceptions.into());
    put("last_exception", m.last_exception.clone().into());
    put("last_exception_time", m.last_exception_time.into());
    let Some(c) = &m.connection else { return };
    put("connection_status", c.status.into());
    put("connection_last_connected_time", c.last_connected.into());
    put(
        "connection_last_disconnected_time",
        c.last_disconnected.into(),
    );
    put(
        "connection_last_disconnected_message",
        c.last_disconnected_message.clone().into(),
    );
    put("connection_last_try_time", c.last_try.into());
}

async fn status(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let rule = app.rules.find(call.name("name")?)?;
    let status = Value::Object(status_of(&app, &rule));
    Ok(Reply::json_text(format!("{status:#}")))
}

async fn status_v2(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let rule = app.rules.find(call.name("name")?)?;
    Ok(Reply::json(&json::sorted(&status_of(&app, &rule).into())))
}

async fn status_all(app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    let mut out = Map::new();
    for rule in app.rules.all() {
        let (mut last, mut total) = (String::new(), 0);
        if rule.state().is_running() {
            let nodes = app.engine.metrics(&rule.id);
            let failed = nodes.iter().map(|(_, m)| m).filter(|m| m.exceptions > 0);
            if let Some(worst) = failed.max_by_key(|m| m.last_exception_time) {
                (last, total) = (worst.last_exception.clone(), worst.exceptions);
            }
        }
        let status = rule.state().word();
        let entry = json!({"status": status, "last_exception": last, "exceptions_total": total});
        out.insert(rule.id.clone(), entry);
    }
    Ok(Reply::json(&out.into()))
}

fn never_started(id: &str) -> ApiError {
    ApiError::new(
        code::GENERAL,
        format!("rule {id} was never started, start it first"),
    )
}

async fn topo(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let rule = app.rules.find(call.name("name")?)?;
    let topo = app
        .engine
        .topo(&rule.id)
        .ok_or_else(|| never_started(&rule.id))?;
    let edges: Map<String, Value> = topo.edges.into_iter().map(|(k, v)| (k, v.into())).collect();
    Ok(Reply::json(
        &json!({"sources": topo.sources, "edges": edges}),
    ))
}

async fn explain(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let rule = app.rules.find(call.name("name")?)?;
    Ok(Reply::text(app.engine.explain(&rule.def()).await?))
}

async fn schema(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let rule = app.rules.find(call.name("name")?)?;
    let columns = app
        .engine
        .schema(&rule.id)
        .ok_or_else(|| never_started(&rule.id))?;
    let mut out = Map::new();
    for (name, index) in columns {
        let index = index.unwrap_or(0);
        out.insert(name, json!({"hasIndex": true, "index": index}));
    }
    Ok(Reply::json(&out.into()))
}

async fn scan_tables(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let rule = app.rules.find(call.name("name")?)?;
    let rows = app.engine.scan_tables(&rule.id).await?;
    if rows.is_empty() {
        return Err(ApiError::bad(format!(
            "the joins of rule {} hold no rows",
            rule.id
        )));
    }
    let one = |(emitter, content)| json!({"emitter": emitter, "content": content});
    Ok(Reply::json(
        &rows.into_iter().map(one).collect::<Vec<_>>().into(),
    ))
}

async fn cpu(app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    if !app.config.basic.cpu_usage {
        return Ok(Reply::text("cpu usage not enabled"));
    }
    match app.engine.cpu_usage() {
        None => Ok(Reply::text("cpu usage not ready")),
        Some(all) => {
            let all: Map<String, Value> = all.into_iter().map(|(id, n)| (id, n.into())).collect();
            Ok(Reply::json(&all.into()))
        }
    }
}
