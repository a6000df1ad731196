//! Named connections.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Route, handler};
use crate::App;
use crate::catalog::{Connection, Kind};
use crate::engine::{Change, ConnectionStatus, Props};
use crate::error::{ApiError, ApiResult};
use crate::web::json::{nested, text};
use crate::web::{Call, Reply, check_name};

const BODY: &str = "{id, typ, props: {…}}";
const ITEM: &str = "{id, typ, props, isNamed, status?, err?, refCount?}";

pub static ROUTES: &[Route] = &[
    Route::get(
        "/connections",
        handler!(list),
        "Lists named connections (?forceAll=true: all).",
    )
    .gives("[{id, typ, props, isNamed, status?, err?, refCount?}]"),
    Route::post(
        "/connections",
        handler!(create),
        "Makes a named connection.",
    )
    .takes(BODY)
    .creates(),
    Route::get(
        "/connections/{id}",
        handler!(get),
        "Gives a connection with its status.",
    )
    .gives(ITEM),
    Route::put(
        "/connections/{id}",
        handler!(update),
        "Replaces a connection.",
    )
    .takes(BODY),
    Route::delete("/connections/{id}", handler!(delete), "Drops a connection."),
];

fn item(id: &str, typ: &str, props: &Props, named: bool, s: ConnectionStatus) -> Value {
    let mut o = Map::new();
    o.insert("id".into(), id.into());
    o.insert("typ".into(), typ.into());
    o.insert("props".into(), props.clone().into());
    o.insert("isNamed".into(), named.into());
    o.insert("status".into(), s.status.into());
    if !s.error.is_empty() {
        o.insert("err".into(), s.error.into());
    }
    if s.ref_count > 0 {
        o.insert("refCount".into(), s.ref_count.into());
    }
    o.into()
}

fn named(app: &App, c: &Connection) -> Value {
    let none = || ConnectionStatus {
        status: "connecting".into(),
        error: String::new(),
        ref_count: 0,
    };
    let status = app.engine.connection_status(&c.id).unwrap_or_else(none);
    item(&c.id, &c.typ, &c.props, true, status)
}

async fn list(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let mut all: Vec<Value> = app
        .catalog
        .connections()
        .iter()
        .map(|c| named(&app, c))
        .collect();
    if call.flag("forceAll") {
        let inner = app.engine.internal_connections();
        all.extend(
            inner
                .into_iter()
                .map(|c| item(&c.id, &c.typ, &c.props, false, c.status)),
        );
    }
    Ok(Reply::json(&all.into()))
}

fn parse(o: &Map<String, Value>, path_id: Option<&str>) -> ApiResult<Connection> {
    let own = text(o, "id")?.filter(|s| !s.is_empty());
    let id = path_id
        .or(own)
        .ok_or_else(|| ApiError::bad("the connection has no id"))?;
    check_name("connection id", id)?;
    let typ = text(o, "typ")?.filter(|s| !s.is_empty());
    let typ = typ.ok_or_else(|| ApiError::bad(format!("connection {id} has no typ")))?;
    check_name("connection typ", typ)?;
    let props = nested(o, "props")?.cloned().unwrap_or_default();
    Ok(Connection {
        id: id.into(),
        typ: typ.into(),
        props,
    })
}

async fn create(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let c = parse(&call.object().await?, None)?;
    let id = c.id.clone();
    app.catalog.create_connection(c).await?;
    app.engine.changed(Change::ConnectionPut(id)).await?;
    Ok(Reply::created("success"))
}

async fn get(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let id = call.name("id")?;
    match app.catalog.connection(id) {
        Some(c) => Ok(Reply::json(&named(&app, &c))),
        None => Err(ApiError::bad(format!("connection {id} does not exist"))),
    }
}

fn unused(app: &App, id: &str) -> ApiResult<()> {
    let used = app.engine.connection_status(id).map_or(0, |s| s.ref_count);
    match used {
        0 => Ok(()),
        n => Err(ApiError::bad(format!(
            "connection {id} is used by {n} rules, stop them first"
        ))),
    }
}

async fn update(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let id = call.name("id")?.to_owned();
    let c = parse(&call.object().await?, Some(&id))?;
    unused(&app, &id)?;
    app.catalog.update_connection(c).await?;
    app.engine.changed(Change::ConnectionPut(id)).await?;
    Ok(Reply::text("success"))
}

async fn delete(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let id = call.name("id")?;
    if let Some(c) = app.catalog.connection(id) {
        unused(&app, id)?;
        app.catalog.drop_conf(Kind::Connections, &c.typ, id).await?;
        app.engine
            .changed(Change::ConnectionDropped(id.to_owned()))
            .await?;
    }
    Ok(Reply::text("success"))
}
