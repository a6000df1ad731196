//! The registry of schemas.

use std::sync::Arc;

use axum::http::StatusCode;
use serde_json::{Map, Value, json};

use super::{Route, handler};
use crate::App;
use crate::catalog::{Schema, check_kind};
use crate::engine::Change;
use crate::error::{ApiError, ApiResult};
use crate::web::json::text;
use crate::web::{Call, Reply, check_name};

const BODY: &str = "{name, content | file, soFile?, version?}";

pub static ROUTES: &[Route] = &[
    Route::get(
        "/schemas/{type}",
        handler!(list),
        "Names the schemas of a type.",
    )
    .gives("[name]"),
    Route::post("/schemas/{type}", handler!(create), "Makes a schema.")
        .takes(BODY)
        .creates(),
    Route::get("/schemas/{type}/{name}", handler!(get), "Gives a schema.")
        .gives("{type, name, content?, file?, soFile?, version?}"),
    Route::put(
        "/schemas/{type}/{name}",
        handler!(update),
        "Replaces a schema, or makes it.",
    )
    .takes(BODY),
    Route::delete(
        "/schemas/{type}/{name}",
        handler!(delete),
        "Drops a schema.",
    ),
    Route::put(
        "/schemas/{type}/{name}/upload",
        handler!(upload),
        "Makes or replaces a schema from a file.",
    )
    .takes("multipart: file once, version at most once")
    .gives("{type, name}"),
];

async fn list(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let kind = check_kind(call.param("type"))?;
    Ok(Reply::json(&app.catalog.schemas(kind).into()))
}

/// Reads a request; the content comes from it or from where it points to.
pub async fn read(
    app: &App,
    kind: &str,
    o: &Map<String, Value>,
    path_name: Option<&str>,
) -> ApiResult<Schema> {
    let kind = check_kind(kind)?;
    let own = text(o, "name")?.filter(|s| !s.is_empty());
    let name = path_name
        .or(own)
        .ok_or_else(|| ApiError::bad("the schema has no name"))?;
    check_name("schema name", name)?;
    let given = |key: &str| Ok::<_, ApiError>(text(o, key)?.filter(|s| !s.is_empty()));
    let (content, file, so_file) = (given("content")?, given("file")?, given("soFile")?);
    let content = match (content, file) {
        (Some(_), Some(_)) => {
            return Err(ApiError::bad(format!(
                "schema {name} has both content and file, give one"
            )));
        }
        (Some(content), None) => Some(content.to_owned()),
        (None, Some(file)) => Some(app.fetch.text(file).await?),
        (None, None) if kind == "custom" && so_file.is_some() => None,
        (None, None) => {
            return Err(ApiError::bad(format!(
                "schema {name} has no content and no file"
            )));
        }
    };
    if kind == "custom" && so_file.is_none() {
        return Err(ApiError::bad(format!("custom schema {name} needs soFile")));
    }
    Ok(Schema {
        kind: kind.to_owned(),
        name: name.to_owned(),
        content,
        so_file: so_file.map(str::to_owned),
        version: given("version")?.map(str::to_owned),
        file: None,
    })
}

async fn put(app: &App, schema: Schema, only_new: bool) -> ApiResult<bool> {
    let (kind, name) = (schema.kind.clone(), schema.name.clone());
    let new = app.catalog.put_schema(schema, only_new).await?;
    app.engine.changed(Change::SchemaPut { kind, name }).await?;
    Ok(new)
}

async fn create(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let kind = call.param("type").to_owned();
    let schema = read(&app, &kind, &call.object().await?, None).await?;
    let name = schema.name.clone();
    put(&app, schema, true).await?;
    Ok(Reply::created(format!("{kind} schema {name} is created")))
}

async fn get(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let kind = check_kind(call.param("type"))?;
    let name = call.name("name")?;
    let schema = app.catalog.schema(kind, name);
    let schema =
        schema.ok_or_else(|| ApiError::bad(format!("{kind} schema {name} does not exist")))?;
    let mut shown = schema.to_value();
    shown["file"] = app
        .catalog
        .schema_file(&schema)
        .display()
        .to_string()
        .into();
    Ok(Reply::json(&shown))
}

async fn update(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let (kind, name) = (call.param("type").to_owned(), call.name("name")?.to_owned());
    let schema = read(&app, &kind, &call.object().await?, Some(&name)).await?;
    put(&app, schema, false).await?;
    Ok(Reply::text(format!("{kind} schema {name} is updated")))
}

async fn delete(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let kind = check_kind(call.param("type"))?.to_owned();
    let name = call.name("name")?.to_owned();
    app.catalog.drop_schema(&kind, &name).await?;
    let text = format!("{kind} schema {name} is deleted");
    app.engine
        .changed(Change::SchemaDropped { kind, name })
        .await?;
    Ok(Reply::text(text))
}

async fn upload(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let kind = check_kind(call.param("type"))?.to_owned();
    let name = call.name("name")?.to_owned();
    if !call.is_multipart() {
        let e = ApiError::bad("expected a body of the type multipart/form-data");
        return Err(e.with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE));
    }
    let mut form = call.multipart().await?;
    let (mut content, mut version) = (None, None);
    let broken = |e: axum::extract::multipart::MultipartError| ApiError::bad(e.body_text());
    while let Some(field) = form.next_field().await.map_err(broken)? {
        let slot = match field.name() {
            Some("file") => &mut content,
            Some("version") => &mut version,
            _ => continue,
        };
        if slot.is_some() {
            return Err(ApiError::bad("file and version may be given once only"));
        }
        *slot = Some(field.text().await.map_err(broken)?);
    }
    let content = content.ok_or_else(|| ApiError::bad("the form has no part called file"))?;
    let schema = Schema {
        kind: kind.clone(),
        name: name.clone(),
        content: Some(content),
        so_file: None,
        version,
        file: None,
    };
    let new = put(&app, schema, false).await?;
    let status = if new {
        StatusCode::CREATED
    } else {
        StatusCode::OK
    };
    let reply = Reply::json(&json!({"type": kind, "name": name})).status(status);
    Ok(reply.header("location", &format!("/schemas/{kind}/{name}")))
}
