//! Configuration keys of sources, sinks and connections.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::metadata::unknown;
use super::{Route, handler};
use crate::App;
use crate::catalog::Kind;
use crate::connectors;
use crate::engine::Change;
use crate::error::{ApiResult, code};
use crate::web::{Call, Reply};

const YAML: &str = "{key: {property: value}}";
const PROPS: &str = "{property: value}";

pub static ROUTES: &[Route] = &[
    Route::get(
        "/metadata/sources/yaml/{name}",
        handler!(sources),
        "Gives the keys of a source type.",
    )
    .gives(YAML),
    Route::get(
        "/metadata/sinks/yaml/{name}",
        handler!(sinks),
        "Gives the keys of a sink type.",
    )
    .gives(YAML),
    Route::get(
        "/metadata/connections/yaml/{name}",
        handler!(connections),
        "Gives the keys of a connection type.",
    )
    .gives(YAML),
    Route::put(
        "/metadata/sources/{name}/confKeys/{key}",
        handler!(put_source),
        "Puts properties of a source.",
    )
    .takes(PROPS),
    Route::put(
        "/metadata/sinks/{name}/confKeys/{key}",
        handler!(put_sink),
        "Puts properties of a sink.",
    )
    .takes(PROPS),
    Route::put(
        "/metadata/connections/{name}/confKeys/{key}",
        handler!(put_connection),
        "Puts properties of a connection.",
    )
    .takes(PROPS),
    Route::delete(
        "/metadata/sources/{name}/confKeys/{key}",
        handler!(drop_source),
        "Drops a key of a source.",
    ),
    Route::delete(
        "/metadata/sinks/{name}/confKeys/{key}",
        handler!(drop_sink),
        "Drops a key of a sink.",
    ),
    Route::delete(
        "/metadata/connections/{name}/confKeys/{key}",
        handler!(drop_connection),
        "Drops a key of a connection.",
    ),
];

fn yaml(app: &App, call: &Call, kind: Kind) -> ApiResult<Reply> {
    let name = call.param("name");
    let c = connectors::find(name);
    let known = match kind {
        Kind::Sources => c.is_some_and(|c| c.source.is_some()),
        Kind::Sinks => c.is_some_and(|c| c.sink.is_some()),
        Kind::Connections => c.is_some_and(|c| c.connection),
    };
    let sections = app.catalog.conf_sections(kind, name);
    if !known && sections.is_empty() {
        return Err(unknown(kind.word().trim_end_matches('s'), name));
    }
    let all: Map<String, Value> = sections.into_iter().map(|(k, v)| (k, v.into())).collect();
    Ok(Reply::json(&all.into()))
}

async fn put(app: &App, mut call: Call, kind: Kind) -> ApiResult<Reply> {
    let typ = call.name("name")?.to_owned();
    let key = call.name("key")?.to_owned();
    let props = call.object().await.map_err(|e| match kind {
        Kind::Connections => e,
        _ => e.with_code(code::CONF_KEY),
    })?;
    app.catalog.put_conf(kind, &typ, &key, props).await?;
    if kind == Kind::Connections {
        app.catalog.connect_key(&typ, &key);
        app.engine.changed(Change::ConnectionPut(key)).await?;
    }
    Ok(Reply::empty())
}

/// A key that is not there is as good as dropped.
async fn remove(app: &App, call: Call, kind: Kind) -> ApiResult<Reply> {
    let (typ, key) = (call.name("name")?, call.name("key")?);
    app.catalog.drop_conf(kind, typ, key).await?;
    if kind == Kind::Connections {
        app.engine
            .changed(Change::ConnectionDropped(key.to_owned()))
            .await?;
    }
    Ok(Reply::empty())
}

async fn sources(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    yaml(&app, &call, Kind::Sources)
}

async fn sinks(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    yaml(&app, &call, Kind::Sinks)
}

async fn connections(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    yaml(&app, &call, Kind::Connections)
}

async fn put_source(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    put(&app, call, Kind::Sources).await
}

async fn put_sink(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    put(&app, call, Kind::Sinks).await
}

async fn put_connection(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    put(&app, call, Kind::Connections).await
}

async fn drop_source(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    remove(&app, call, Kind::Sources).await
}

async fn drop_sink(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    remove(&app, call, Kind::Sinks).await
}

async fn drop_connection(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    remove(&app, call, Kind::Connections).await
}
