//! Files in the upload folder.

use std::sync::Arc;

use serde_json::{Map, Value};
use tokio::io::AsyncWriteExt;

use super::{Route, handler};
use crate::App;
use crate::error::{ApiError, ApiResult};
use crate::web::json::text;
use crate::web::{Call, Reply};

/// A file that comes in pieces may be this large.
const MAX_FILE: usize = 1 << 30;

pub static ROUTES: &[Route] = &[
    Route::get(
        "/config/uploads",
        handler!(list),
        "Lists the uploaded files.",
    )
    .gives("[path]"),
    Route::post("/config/uploads", handler!(upload), "Uploads a file.")
        .takes("{name, content | file}, or multipart with uploadFile")
        .gives("the full path")
        .creates(),
    Route::delete(
        "/config/uploads/{name}",
        handler!(delete),
        "Deletes an uploaded file.",
    ),
];

async fn list(app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    Ok(Reply::json(&app.catalog.uploads().into()))
}

async fn delete(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    app.catalog.drop_upload(call.param("name")).await?;
    Ok(Reply::text("ok"))
}

async fn upload(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let path = match call.header("content-type") {
        Some("application/json") => from_json(&app, &call.object().await?).await?,
        _ if call.is_multipart() => from_form(&app, &mut call).await?,
        _ => {
            return Err(ApiError::bad(
                "expected application/json or multipart/form-data",
            ));
        }
    };
    Ok(Reply::created(escape(&path)))
}

/// Writes what a request holds or points to, and remembers the request.
pub async fn from_json(app: &App, o: &Map<String, Value>) -> ApiResult<String> {
    let name = text(o, "name")?.unwrap_or_default().to_owned();
    let path = app.catalog.upload_path(&name)?;
    let given = |key: &str| Ok::<_, ApiError>(text(o, key)?.filter(|s| !s.is_empty()));
    let content = match (given("content")?, given("file")?) {
        (Some(content), None) => content.as_bytes().to_vec(),
        (None, Some(file)) => app.fetch.bytes(file).await?.to_vec(),
        (Some(_), Some(_)) => return Err(ApiError::bad("give content or file, not both")),
        (None, None) => return Err(ApiError::bad("the upload has neither content nor file")),
    };
    let failed = |e: std::io::Error| ApiError::bad(format!("upload {name} cannot be written: {e}"));
    if let Some(dir) = path.parent() {
        tokio::fs::create_dir_all(dir).await.map_err(failed)?;
    }
    tokio::fs::write(&path, content).await.map_err(failed)?;
    app.catalog.remember_upload(&name, o.clone()).await?;
    Ok(path.display().to_string())
}

async fn from_form(app: &App, call: &mut Call) -> ApiResult<String> {
    let mut form = call.multipart().await?;
    let broken = |e: axum::extract::multipart::MultipartError| ApiError::bad(e.body_text());
    while let Some(mut field) = form.next_field().await.map_err(broken)? {
        if field.name() != Some("uploadFile") {
            continue;
        }
        let name = field.file_name().unwrap_or_default().to_owned();
        let path = app.catalog.upload_path(&name)?;
        let failed =
            |e: std::io::Error| ApiError::bad(format!("upload {name} cannot be written: {e}"));
        if let Some(dir) = path.parent() {
            tokio::fs::create_dir_all(dir).await.map_err(failed)?;
        }
        // Into a file beside it first: a transfer that breaks off leaves the old one whole.
        let part = path.with_extension("part");
        let mut file = tokio::fs::File::create(&part).await.map_err(failed)?;
        let mut size = 0;
        while let Some(piece) = field.chunk().await.map_err(broken)? {
            size += piece.len();
            if size > MAX_FILE {
                let _ = tokio::fs::remove_file(&part).await;
                return Err(ApiError::bad(format!(
                    "upload {name} has more than {MAX_FILE} bytes"
                )));
            }
            file.write_all(&piece).await.map_err(failed)?;
        }
        file.flush().await.map_err(failed)?;
        tokio::fs::rename(&part, &path).await.map_err(failed)?;
        return Ok(path.display().to_string());
    }
    Err(ApiError::bad("the form has no file called uploadFile"))
}

fn escape(text: &str) -> String {
    let pairs = [
        ('&', "&amp;"),
        ('<', "&lt;"),
        ('>', "&gt;"),
        ('"', "&#34;"),
        ('\'', "&#39;"),
    ];
    let one = |c: char| pairs.iter().find(|(p, _)| *p == c).map(|(_, e)| *e);
    text.chars()
        .map(|c| one(c).map_or_else(|| c.to_string(), str::to_owned))
        .collect()
}
