//! Streams, and what streams and tables have in common.

use std::sync::Arc;

use rekuiper_sql::{Described, Statement, StreamKind, parse_statement};
use serde_json::{Map, Value, json};

use super::{Route, handler};
use crate::App;
use crate::catalog::StreamEntry;
use crate::error::{ApiError, ApiResult};
use crate::web::json::text;
use crate::web::{Call, Reply};

const SQL: &str = "{sql: a CREATE STREAM or CREATE TABLE statement}";
pub(super) const DETAILS: &str = "[{name, type, format}]";
pub(super) const DESCRIPTION: &str = "{Name, StreamFields, Options, StreamType, Statement}";
pub(super) const SCHEMA: &str = "{field: {type, index}}, or null without a schema";

pub static ROUTES: &[Route] = &[
    Route::get("/streams", handler!(list), "Names the streams.").gives("[name]"),
    Route::post(
        "/streams",
        handler!(statement),
        "Runs a statement on streams and tables.",
    )
    .takes(SQL)
    .creates(),
    Route::get(
        "/streamdetails",
        handler!(details),
        "Lists streams with type and format.",
    )
    .gives(DETAILS),
    Route::get("/streams/{name}", handler!(describe), "Describes a stream.").gives(DESCRIPTION),
    Route::get(
        "/streams/{name}/schema",
        handler!(schema),
        "Gives the columns of a stream.",
    )
    .gives(SCHEMA),
    Route::put(
        "/streams/{name}",
        handler!(replace),
        "Replaces a stream, or makes it.",
    )
    .takes(SQL),
    Route::delete(
        "/streams/{name}",
        handler!(drop_one),
        "Drops a stream (?force=true).",
    ),
];

async fn list(app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    Ok(Reply::json(&names(&app, StreamKind::Stream, |_| true)))
}

async fn details(app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    Ok(Reply::json(&detailed(&app, StreamKind::Stream, |_| true)))
}

async fn describe(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    describe_kind(&app, &call, StreamKind::Stream)
}

async fn schema(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    schema_of_kind(&app, &call, StreamKind::Stream)
}

async fn replace(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    replace_kind(&app, call, StreamKind::Stream).await
}

async fn drop_one(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    drop_kind(&app, call, StreamKind::Stream).await
}

pub(super) fn names(app: &App, kind: StreamKind, of: impl Fn(&StreamEntry) -> bool) -> Value {
    let all = app.catalog.sources(kind);
    all.into_iter()
        .filter(|(_, e)| of(e))
        .map(|(n, _)| n)
        .collect::<Vec<_>>()
        .into()
}

pub(super) fn detailed(app: &App, kind: StreamKind, of: impl Fn(&StreamEntry) -> bool) -> Value {
    let one = |(name, entry): (String, Arc<StreamEntry>)| {
        let options = &entry.def.options;
        let typ = options
            .type_
            .as_deref()
            .filter(|t| !t.is_empty())
            .unwrap_or("mqtt");
        let format = options
            .format
            .as_deref()
            .filter(|f| !f.is_empty())
            .unwrap_or("json");
        json!({"name": name, "type": typ, "format": format.to_lowercase()})
    };
    app.catalog
        .sources(kind)
        .into_iter()
        .filter(|(_, e)| of(e))
        .map(one)
        .collect::<Vec<_>>()
        .into()
}

pub(super) fn describe_kind(app: &App, call: &Call, kind: StreamKind) -> ApiResult<Reply> {
    let entry = app.catalog.described(kind, call.name("name")?)?;
    Ok(Reply::json(&entry.def.to_json()))
}

pub(super) fn schema_of_kind(app: &App, call: &Call, kind: StreamKind) -> ApiResult<Reply> {
    let entry = app.catalog.described(kind, call.name("name")?)?;
    match app.catalog.columns_of(&entry.def) {
        // recorded so: eKuiper does not find messages of a package here, though rules may read them
        Some(Ok((full_name, _))) if full_name.contains('.') => Err(ApiError::stream(format!(
            "{}: the columns of {full_name} are not shown, as it belongs to a package",
            entry.def.name
        ))),
        Some(Ok((_, columns))) => {
            let mut def = rekuiper_sql::StreamDef::clone(&entry.def);
            def.fields = Some(columns);
            Ok(Reply::json(&def.schema_json()))
        }
        Some(Err(why)) => Err(ApiError::stream(format!("{}: {why}", entry.def.name))),
        None => Ok(Reply::json(&entry.def.schema_json())),
    }
}

async fn sql_of(call: &mut Call) -> ApiResult<String> {
    let o: Map<String, Value> = call.object().await?;
    Ok(text(&o, "sql")?.unwrap_or_default().to_owned())
}

pub(super) async fn replace_kind(app: &App, mut call: Call, kind: StreamKind) -> ApiResult<Reply> {
    let name = call.name("name")?.to_owned();
    let entry = StreamEntry::parse(&sql_of(&mut call).await?)?;
    if !entry.is(kind) {
        let (is, want) = (entry.def.kind.word(), kind.word());
        return Err(ApiError::stream(format!(
            "the statement makes a {is}, this path a {want}"
        )));
    }
    app.replace_source(&name, entry).await?;
    Ok(Reply::text(format!("{} {name} is replaced.", kind.title())))
}

pub(super) async fn drop_kind(app: &App, call: Call, kind: StreamKind) -> ApiResult<Reply> {
    let (name, force) = (call.name("name")?, call.flag("force"));
    app.drop_source(kind, name, force).await?;
    Ok(Reply::text(format!("{} {name} is dropped.", kind.title())))
}

/// CREATE, SHOW, DESCRIBE, EXPLAIN and DROP of either kind.
pub(super) async fn statement(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let sql = sql_of(&mut call).await?;
    let parsed = parse_statement(&sql).map_err(|e| ApiError::stream(e.render(&sql)))?;
    let text = match parsed {
        Statement::Create(def) => {
            let entry = StreamEntry::of(*def, &sql)?;
            let (kind, name) = (entry.def.kind.title(), entry.def.name.clone());
            app.create_source(entry).await?;
            format!("{kind} {name} is created.")
        }
        Statement::Show(kind) => shown(&app, kind),
        Statement::Describe(Described { kind, name }) => {
            app.catalog.described(kind, &name)?.def.describe()
        }
        Statement::Explain(Described { kind, name }) => {
            app.catalog.described(kind, &name)?;
            "TO BE SUPPORTED".into()
        }
        Statement::Drop(Described { kind, name }) => {
            app.drop_source(kind, &name, false).await?;
            format!("{} {name} is dropped.", kind.title())
        }
        Statement::Select(_) => {
            let hint = "a SELECT belongs into a rule, POST it to /rules";
            return Err(ApiError::stream(format!(
                "expected a statement on a stream or table; {hint}"
            )));
        }
    };
    Ok(Reply::created(text))
}

fn shown(app: &App, kind: StreamKind) -> String {
    let names: Vec<String> = app
        .catalog
        .sources(kind)
        .into_iter()
        .map(|(n, _)| n)
        .collect();
    if names.is_empty() {
        return format!("No {} definitions are found.", kind.title().to_lowercase());
    }
    names.join("\n")
}
