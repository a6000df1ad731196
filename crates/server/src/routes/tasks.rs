//! Work that goes on after the answer.

use std::sync::Arc;

use serde_json::json;

use super::{Route, handler};
use crate::App;
use crate::error::{ApiError, ApiResult};
use crate::transfer;
use crate::web::{Call, Reply};

pub static ROUTES: &[Route] = &[
    Route::post(
        "/async/data/import",
        handler!(import),
        "Imports in the background.",
    )
    .takes("{content | file}")
    .gives("{id}"),
    Route::get("/async/task/{id}", handler!(get), "Says how a task does.")
        .gives("{id, status, message, createdTimestamp, updatedTimestamp}"),
    Route::post(
        "/async/task/{id}/cancel",
        handler!(cancel),
        "Cancels a task.",
    ),
];

async fn import(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let partial = call.query("partial").as_deref() == Some("1");
    let o = call.object().await?;
    transfer::check_request(&o)?;
    let work = {
        let app = app.clone();
        async move {
            let content = transfer::content(&app, &o).await?;
            transfer::import(&app, &content, partial).await
        }
    };
    let id = app.tasks.start("dataImport", work);
    Ok(Reply::json(&json!({"id": id})))
}

fn unknown(id: &str) -> ApiError {
    ApiError::bad(format!("task {id} does not exist"))
}

async fn get(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let id = call.name("id")?;
    app.tasks
        .get(id)
        .map(|t| Reply::json(&t))
        .ok_or_else(|| unknown(id))
}

async fn cancel(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let id = call.name("id")?;
    match app.tasks.cancel(id) {
        true => Ok(Reply::text("cancel success")),
        false => Err(unknown(id)),
    }
}
