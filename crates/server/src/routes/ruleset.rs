//! Export and import of streams, tables and rules.

use std::sync::Arc;

use serde_json::json;

use super::{Route, handler};
use crate::App;
use crate::error::ApiResult;
use crate::transfer;
use crate::web::{Call, Reply};

pub static ROUTES: &[Route] = &[
    Route::post(
        "/ruleset/export",
        handler!(export),
        "Exports streams, tables and rules.",
    )
    .gives("{streams, tables, rules}: name to text each"),
    Route::post(
        "/ruleset/import",
        handler!(import),
        "Imports streams, tables and rules.",
    )
    .takes("{content | file}"),
];

async fn export(app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    let all = transfer::export(&app, None);
    let three = json!({
        "streams": all.part("streams"),
        "tables": all.part("tables"),
        "rules": all.part("rules"),
    });
    Ok(Reply::attachment("Attachment", three.to_string()))
}

async fn import(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let content = transfer::content(&app, &call.object().await?).await?;
    let [streams, tables, rules] = transfer::import_ruleset(&app, &content).await?;
    Ok(Reply::text(format!(
        "imported {streams} streams, {tables} tables and {rules} rules"
    )))
}
