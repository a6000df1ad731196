//! Tables: as streams, with a kind of their own.

use std::sync::Arc;

use rekuiper_sql::StreamKind;

use super::streams::{self, DESCRIPTION, DETAILS, SCHEMA};
use super::{Route, handler};
use crate::App;
use crate::catalog::StreamEntry;
use crate::error::ApiResult;
use crate::web::{Call, Reply};

const SQL: &str = "{sql: a CREATE TABLE statement}";

pub static ROUTES: &[Route] = &[
    Route::get(
        "/tables",
        handler!(list),
        "Names the tables (?kind=scan|lookup).",
    )
    .gives("[name]"),
    Route::post(
        "/tables",
        handler!(streams::statement),
        "Runs a statement on streams and tables.",
    )
    .takes(SQL)
    .creates(),
    Route::get(
        "/tabledetails",
        handler!(details),
        "Lists tables with type and format.",
    )
    .gives(DETAILS),
    Route::get("/tables/{name}", handler!(describe), "Describes a table.").gives(DESCRIPTION),
    Route::get(
        "/tables/{name}/schema",
        handler!(schema),
        "Gives the columns of a table.",
    )
    .gives(SCHEMA),
    Route::put(
        "/tables/{name}",
        handler!(replace),
        "Replaces a table, or makes it.",
    )
    .takes(SQL),
    Route::delete(
        "/tables/{name}",
        handler!(drop_one),
        "Drops a table (?force=true).",
    ),
];

fn of_kind(call: &Call) -> impl Fn(&StreamEntry) -> bool + use<> {
    let kind = call.query("kind").unwrap_or_default();
    move |entry| match kind.as_str() {
        "lookup" => entry.is_lookup(),
        "scan" => !entry.is_lookup(),
        _ => true,
    }
}

async fn list(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    Ok(Reply::json(&streams::names(
        &app,
        StreamKind::Table,
        of_kind(&call),
    )))
}

async fn details(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    Ok(Reply::json(&streams::detailed(
        &app,
        StreamKind::Table,
        of_kind(&call),
    )))
}

async fn describe(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    streams::describe_kind(&app, &call, StreamKind::Table)
}

async fn schema(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    streams::schema_of_kind(&app, &call, StreamKind::Table)
}

async fn replace(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    streams::replace_kind(&app, call, StreamKind::Table).await
}

async fn drop_one(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    streams::drop_kind(&app, call, StreamKind::Table).await
}
