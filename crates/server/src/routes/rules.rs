//! Rules: define them, start and stop them.

use std::sync::Arc;

use axum::http::StatusCode;
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

use super::{Route, handler};
use crate::App;
use crate::error::{ApiError, ApiResult};
use crate::rules::Rule;
use crate::web::json::{int, nested, object, text, texts};
use crate::web::{Call, Reply};

const RULE: &str = "{id, name?, version?, sql | graph, actions: [{sink: {…}}], \
    options?, triggered?, temp?, tags?}";
const TAGS: &str = "{tags: [text]}";
/// Rules of one bulk request that are started or stopped at the same time.
const AT_ONCE: usize = 64;
const BULK: &str = "[{ruleId, success, error?}]";

pub static ROUTES: &[Route] = &[
    Route::get(
        "/rules",
        handler!(list),
        "Lists the rules with their state.",
    )
    .gives("[{id, name, status, version, trace, tags}]"),
    Route::post("/rules", handler!(create), "Makes a rule and runs it.")
        .takes(RULE)
        .creates(),
    Route::get(
        "/rules/{name}",
        handler!(get),
        "Gives a rule as it was defined.",
    )
    .gives(RULE),
    Route::put(
        "/rules/{name}",
        handler!(update),
        "Replaces a rule, or makes it.",
    )
    .takes(RULE),
    Route::delete(
        "/rules/{name}",
        handler!(delete),
        "Stops a rule and drops it.",
    ),
    Route::post("/rules/{name}/start", handler!(start), "Starts a rule."),
    Route::post("/rules/{name}/stop", handler!(stop), "Stops a rule."),
    Route::post(
        "/rules/{name}/restart",
        handler!(restart),
        "Stops a rule and starts it.",
    ),
    Route::post(
        "/rules/validate",
        handler!(validate),
        "Checks a rule without keeping it.",
    )
    .takes(RULE)
    .gives("{valid, sources: [name]}"),
    Route::put(
        "/rules/{name}/reset_state",
        handler!(reset_state),
        "Rewinds a source of a rule.",
    )
    .takes("{type: 1, params: {streamName, input: {…}}}"),
    Route::post(
        "/rules/bulkstart",
        handler!(bulk_start),
        "Starts all rules with these tags.",
    )
    .takes(TAGS)
    .gives(BULK),
    Route::post(
        "/rules/bulkstop",
        handler!(bulk_stop),
        "Stops all rules with these tags.",
    )
    .takes(TAGS)
    .gives(BULK),
];

async fn list(app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    let one = |rule: &Arc<Rule>| {
        let def = rule.def();
        json!({
            "id": rule.id,
            "name": def.shown_name(),
            "status": rule.state().word(),
            "version": def.version,
            "trace": rule.traced(),
            "tags": def.tags,
        })
    };
    Ok(Reply::json(
        &app.rules.all().iter().map(one).collect::<Vec<_>>().into(),
    ))
}

async fn create(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let def = app.rules.parse(&call.text().await?, None)?;
    let id = def.id.clone();
    app.rules.create(def).await?;
    Ok(Reply::created(format!(
        "Rule {id} was created successfully."
    )))
}

async fn get(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let rule = app.rules.find(call.name("name")?)?;
    Ok(Reply::json_text(rule.def().text.clone()))
}

async fn update(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let id = call.name("name")?.to_owned();
    let def = app.rules.parse(&call.text().await?, Some(&id))?;
    app.rules.update(&id, def).await?;
    Ok(Reply::text(format!("Rule {id} was updated successfully.")))
}

async fn delete(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let id = call.name("name")?;
    app.rules.delete(id).await?;
    Ok(Reply::text(format!("Rule {id} is dropped.")))
}

async fn start(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let id = call.name("name")?;
    app.rules.start(id).await?;
    Ok(Reply::text(format!("Rule {id} was started")))
}

async fn stop(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let id = call.name("name")?;
    app.rules.stop(id).await?;
    Ok(Reply::text(format!("Rule {id} was stopped.")))
}

async fn restart(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let id = call.name("name")?;
    app.rules.restart(id).await?;
    Ok(Reply::text(format!("Rule {id} was restarted")))
}

async fn validate(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let body = call.text().await?;
    let check = async {
        let def = Arc::new(app.rules.parse(&body, None)?);
        app.engine.check(&def).await.map_err(ApiError::from)
    };
    match check.await {
        Ok(checked) => Ok(Reply::json(
            &json!({"valid": true, "sources": checked.sources}),
        )),
        Err(e) => Err(ApiError::bare(StatusCode::UNPROCESSABLE_ENTITY, e.message)),
    }
}

async fn reset_state(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let id = call.name("name")?.to_owned();
    let o = call.object().await?;
    let kind = int(&o, "type")?.unwrap_or(0);
    if kind != 1 {
        return Err(ApiError::bad(format!(
            "type {kind} is not known, expected 1 to rewind a source"
        )));
    }
    let params = nested(&o, "params")?.cloned().unwrap_or_default();
    let stream = text(&params, "streamName")?.unwrap_or_default();
    let input = nested(&params, "input")?.cloned().unwrap_or_default();
    if !app.rules.get(&id).is_some_and(|r| r.state().is_running()) {
        return Err(ApiError::bad(format!("rule {id} is not running")));
    }
    app.engine.reset_state(&id, stream, &input).await?;
    Ok(Reply::text("success"))
}

/// The ids of the rules that carry all tags of the body.
async fn matching(app: &App, call: &mut Call) -> ApiResult<Vec<String>> {
    let tags = texts(&object(&call.bytes().await?)?, "tags")?.unwrap_or_default();
    let rules = app.rules.all();
    let ids: Vec<String> = rules
        .iter()
        .filter(|r| r.def().has_tags(&tags))
        .map(|r| r.id.clone())
        .collect();
    if ids.is_empty() {
        return Err(ApiError::bad(format!(
            "no rule carries all of the tags {tags:?}"
        )));
    }
    Ok(ids)
}

fn outcome(id: &str, result: ApiResult<()>) -> Value {
    match result {
        Ok(()) => json!({"ruleId": id, "success": true}),
        Err(e) => json!({"ruleId": id, "success": false, "error": e.message}),
    }
}

/// At once, a few at a time: a rule that takes long to stop must not hold up the others.
async fn bulk<F: Future<Output = ApiResult<()>>>(
    ids: Vec<String>,
    act: impl Fn(String) -> F,
) -> Reply {
    let one = |id: String| {
        let acted = act(id.clone());
        async move { outcome(&id, acted.await) }
    };
    let out = stream::iter(ids).map(one).buffered(AT_ONCE).collect::<Vec<_>>().await;
    Reply::json(&out.into())
}

async fn bulk_start(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let ids = matching(&app, &mut call).await?;
    let act = |id: String| {
        let app = app.clone();
        async move { app.rules.start(&id).await }
    };
    Ok(bulk(ids, act).await)
}

async fn bulk_stop(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let ids = matching(&app, &mut call).await?;
    let act = |id: String| {
        let app = app.clone();
        async move { app.rules.stop(&id).await }
    };
    Ok(bulk(ids, act).await)
}
