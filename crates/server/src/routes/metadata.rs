//! Descriptions of what there is, as management tools read them.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Route, handler};
use crate::App;
use crate::catalog::Kind;
use crate::connectors::{self, operators};
use crate::engine::Side;
use crate::error::{ApiError, ApiResult};
use crate::web::{Call, Reply};

const LIST: &str = "[{name, about, type}]";
const ONE: &str = "{about, libs, properties, node, type}";
const PROPS: &str = "{property: value}";

pub static ROUTES: &[Route] = &[
    Route::get(
        "/metadata/sources",
        handler!(sources),
        "Lists source types (?kind=lookup).",
    )
    .gives(LIST),
    Route::get("/metadata/sinks", handler!(sinks), "Lists sink types.").gives(LIST),
    Route::get(
        "/metadata/connections",
        handler!(connections),
        "Lists connection types.",
    )
    .gives(LIST),
    Route::get(
        "/metadata/sources/{name}",
        handler!(source),
        "Describes a source type.",
    )
    .gives(ONE),
    Route::get(
        "/metadata/sinks/{name}",
        handler!(sink),
        "Describes a sink type.",
    )
    .gives(ONE),
    Route::get(
        "/metadata/connections/{name}",
        handler!(connection),
        "Describes a connection type.",
    )
    .gives(ONE),
    Route::get(
        "/metadata/functions",
        handler!(functions),
        "Describes the functions by family.",
    )
    .gives("[{about, functions: [{name, example, hint, args, return, node}]}]"),
    Route::get(
        "/metadata/operators",
        handler!(operator_list),
        "Describes operators of graph rules.",
    )
    .gives("[{name, about, properties, node}]"),
    Route::get(
        "/metadata/resources",
        handler!(resources),
        "Names the configuration keys of users.",
    )
    .gives("{sinks: [{key: type}], sources: [{key: type}]}"),
    Route::get(
        "/metadata/resource",
        handler!(resource),
        "Gives the keys of a type (?sourceType=).",
    )
    .gives("{type: {key: {…}}}"),
    Route::post(
        "/metadata/sources/connection/{name}",
        handler!(test_source),
        "Tries a source.",
    )
    .takes(PROPS),
    Route::post(
        "/metadata/sinks/connection/{name}",
        handler!(test_sink),
        "Tries a sink.",
    )
    .takes(PROPS),
    Route::post(
        "/metadata/lookups/connection/{name}",
        handler!(test_lookup),
        "Tries a lookup source.",
    )
    .takes(PROPS),
];

async fn sources(_app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let lookup = call.query("kind").as_deref() == Some("lookup");
    Ok(Reply::json(&connectors::sources(lookup)))
}

async fn sinks(_app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    Ok(Reply::json(&connectors::sinks()))
}

async fn connections(_app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    Ok(Reply::json(&connectors::connections()))
}

fn sections(app: &App, kind: Kind, name: &str) -> Map<String, Value> {
    app.catalog
        .conf_sections(kind, name)
        .into_iter()
        .map(|(k, v)| (k, v.into()))
        .collect()
}

async fn source(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let name = call.param("name");
    let sections = sections(&app, Kind::Sources, name);
    let shown = connectors::find(name).and_then(|c| connectors::source(c, &sections));
    shown
        .map(|v| Reply::json(&v))
        .ok_or_else(|| unknown("source", name))
}

async fn sink(_app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let name = call.param("name");
    let shown = connectors::find(name).and_then(connectors::sink);
    shown
        .map(|v| Reply::json(&v))
        .ok_or_else(|| unknown("sink", name))
}

async fn connection(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let name = call.param("name");
    let mut sections = sections(&app, Kind::Connections, name);
    sections.entry("default").or_insert_with(|| json!({}));
    let shown = connectors::find(name).and_then(|c| connectors::connection(c, &sections));
    let missing = || ApiError::bad(unknown("connection", name).message);
    shown.map(|v| Reply::json(&v)).ok_or_else(missing)
}

pub(super) fn unknown(what: &str, name: &str) -> ApiError {
    ApiError::conf_key(format!("{what} type {name:?} is not known"))
}

async fn functions(_app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    Ok(Reply::json(&rekuiper_functions::metadata()))
}

async fn operator_list(_app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    Ok(Reply::json(&operators::list()))
}

async fn resources(app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    let of = |kind: Kind| -> Value {
        let all = app.catalog.user_conf(kind);
        if all.is_empty() {
            return Value::Null;
        }
        all.into_iter()
            .map(|(typ, key, _)| json!({key: typ}))
            .collect::<Vec<_>>()
            .into()
    };
    Ok(Reply::json(
        &json!({"sinks": of(Kind::Sinks), "sources": of(Kind::Sources)}),
    ))
}

async fn resource(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let typ = call.query("sourceType").unwrap_or_default();
    let all = app.catalog.user_conf(Kind::Sources);
    let own: Map<String, Value> = all
        .into_iter()
        .filter(|(t, ..)| *t == typ)
        .map(|(_, k, v)| (k, v.into()))
        .collect();
    match own.is_empty() {
        true => Ok(Reply::json(&json!({}))),
        false => Ok(Reply::json(&json!({typ: own}))),
    }
}

async fn test(app: &App, mut call: Call, side: Side) -> ApiResult<Reply> {
    let name = call.name("name")?.to_owned();
    let props = call.object().await?;
    app.engine.test_connection(side, &name, &props).await?;
    Ok(Reply::empty())
}

async fn test_source(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    test(&app, call, Side::Source).await
}

async fn test_sink(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    test(&app, call, Side::Sink).await
}

async fn test_lookup(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    test(&app, call, Side::Lookup).await
}
