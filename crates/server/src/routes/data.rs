//! Export and import of everything.

use std::sync::Arc;

use serde_json::Value;

use super::{Route, handler};
use crate::App;
use crate::error::ApiResult;
use crate::transfer;
use crate::web::{Call, Reply, json};

const PARTS: &str = "{streams, tables, rules, nativePlugins, portablePlugins, sourceConfig, \
    sinkConfig, connectionConfig, Service, Schema, uploads, scripts}: name to text each";
const SOURCE: &str = "{content | file}";

pub static ROUTES: &[Route] = &[
    Route::get("/data/export", handler!(export), "Exports everything.").gives(PARTS),
    Route::post(
        "/data/export",
        handler!(export_some),
        "Exports rules and what they need.",
    )
    .takes("[ruleId]")
    .gives(PARTS),
    Route::post(
        "/data/import",
        handler!(import),
        "Imports (?partial=1: keeps what is there; ?stop=1).",
    )
    .takes(SOURCE)
    .gives("{ErrorMsg, ConfigResponse}"),
    Route::get(
        "/data/import/status",
        handler!(status),
        "Gives the errors of the last import.",
    )
    .gives(PARTS),
    Route::get(
        "/v2/data/export",
        handler!(export_v2),
        "Exports everything as YAML.",
    )
    .gives("YAML"),
    Route::post("/v2/data/import", handler!(import_v2), "Imports YAML.").takes(SOURCE),
];

/// How long the answer has to get out before the process ends.
const GRACE: std::time::Duration = std::time::Duration::from_secs(1);

async fn export(app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    let all = transfer::export(&app, None).to_value();
    Ok(Reply::attachment("Attachment", all.to_string()))
}

/// A body that cannot be read asks for no rules.
async fn export_some(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let ids: Vec<String> = match json::value(&call.bytes().await?) {
        Ok(Value::Array(ids)) => ids
            .iter()
            .filter_map(|v| v.as_str().map(str::to_owned))
            .collect(),
        _ => Vec::new(),
    };
    let some = transfer::export(&app, Some(&ids)).to_value();
    Ok(Reply::attachment("Attachment", some.to_string()))
}

async fn import(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let partial = call.query("partial").as_deref() == Some("1");
    let stop = call.query("stop").as_deref() == Some("1");
    let content = transfer::content(&app, &call.object().await?).await?;
    transfer::import(&app, &content, partial).await?;
    if stop {
        tokio::spawn(async move {
            tokio::time::sleep(GRACE).await;
            app.ask_to_stop(100);
        });
    }
    Ok(Reply::json(&transfer::nothing_wrong()))
}

async fn status(app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    Ok(Reply::json(&transfer::status(&app)))
}

async fn export_v2(app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    Ok(Reply::attachment(
        "Attachment",
        transfer::export_yaml(&app)?,
    ))
}

async fn import_v2(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let content = transfer::content(&app, &call.object().await?).await?;
    transfer::import_yaml(&app, &content).await?;
    Ok(Reply::text("success"))
}
