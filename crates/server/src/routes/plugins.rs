//! The register of native plugins. They are shared objects of the original and cannot run here;
//! the endpoints answer all the same.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Route, handler};
use crate::App;
use crate::archive::Archive;
use crate::catalog::PluginKind;
use crate::error::{ApiError, ApiResult};
use crate::web::json::{text, texts};
use crate::web::{Call, Reply, check_name};

const BODY: &str = "{name, file: address of a zip, shellParas?, functions?}";

/// The routes of one kind; the kind is read from the path.
macro_rules! of_kind {
    ($kind:literal) => {
        [
            Route::get(
                concat!("/plugins/", $kind),
                handler!(list),
                "Names the plugins.",
            )
            .gives("[name]"),
            Route::post(
                concat!("/plugins/", $kind),
                handler!(create),
                "Installs a plugin.",
            )
            .takes(BODY)
            .creates(),
            Route::get(
                concat!("/plugins/", $kind, "/prebuild"),
                handler!(prebuilt),
                "Lists plugins to be had.",
            )
            .gives("{plugin: address}"),
            Route::get(
                concat!("/plugins/", $kind, "/{name}"),
                handler!(get),
                "Describes a plugin.",
            )
            .gives(BODY),
            Route::put(
                concat!("/plugins/", $kind, "/{name}"),
                handler!(update),
                "Replaces a plugin.",
            )
            .takes(BODY),
            Route::delete(
                concat!("/plugins/", $kind, "/{name}"),
                handler!(delete),
                "Removes a plugin (?stop=1).",
            ),
        ]
    };
}

pub static SOURCES: &[Route] = &of_kind!("sources");
pub static SINKS: &[Route] = &of_kind!("sinks");
pub static FUNCTIONS: &[Route] = &of_kind!("functions");

pub static UDFS: &[Route] = &[
    Route::post(
        "/plugins/functions/{name}/register",
        handler!(register),
        "Names the functions of a plugin.",
    )
    .takes("{functions: [name]}"),
    Route::get(
        "/plugins/udfs",
        handler!(udfs),
        "Names the functions of plugins.",
    )
    .gives("[name]"),
    Route::get(
        "/plugins/udfs/{name}",
        handler!(udf),
        "Says which plugin a function is from.",
    )
    .gives("{name, plugin}"),
];

fn kind_of(call: &Call) -> PluginKind {
    let word = call.path().split('/').nth(2).unwrap_or_default();
    PluginKind::of(word).unwrap_or(PluginKind::Functions)
}

async fn list(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let names = app
        .catalog
        .native_plugins(kind_of(&call))
        .into_iter()
        .map(|(n, _)| n);
    Ok(Reply::json(&names.collect::<Vec<_>>().into()))
}

fn missing(kind: PluginKind, name: &str) -> ApiError {
    ApiError::not_found(format!("{} plugin {name} is not found", kind.word()))
}

async fn get(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let (kind, name) = (kind_of(&call), call.name("name")?);
    match app.catalog.native_plugin(kind, name) {
        Some(request) => Ok(Reply::json(&request.into())),
        None => Err(missing(kind, name)),
    }
}

/// Checks that the archive is there and usable, and keeps the request.
pub async fn install(
    app: &App,
    kind: PluginKind,
    o: Map<String, Value>,
    path_name: Option<&str>,
) -> ApiResult<String> {
    let own = text(&o, "name")?.filter(|s| !s.is_empty());
    let name = path_name
        .or(own)
        .ok_or_else(|| ApiError::bad("the plugin has no name"))?;
    check_name("plugin name", name)?;
    let file = text(&o, "file")?.unwrap_or_default();
    Archive::read(app.fetch.bytes(file).await?)?;
    tracing::warn!(
        "native plugin {name} is registered, but shared objects of eKuiper cannot run here"
    );
    app.catalog.put_native(kind, name, o.clone()).await?;
    Ok(name.to_owned())
}

async fn create(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let kind = kind_of(&call);
    let o = call.object().await?;
    if let Some(name) = text(&o, "name")?
        && app.catalog.native_plugin(kind, name).is_some()
    {
        return Err(ApiError::bad(format!(
            "{} plugin {name} already exists",
            kind.word()
        )));
    }
    let name = install(&app, kind, o, None).await?;
    Ok(Reply::created(format!(
        "{} plugin {name} is created",
        kind.word()
    )))
}

async fn update(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let (kind, name) = (kind_of(&call), call.name("name")?.to_owned());
    let o = call.object().await?;
    install(&app, kind, o, Some(&name)).await?;
    Ok(Reply::text(format!(
        "{} plugin {name} is updated",
        kind.word()
    )))
}

async fn delete(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let (kind, name) = (kind_of(&call), call.name("name")?);
    if app.catalog.native_plugin(kind, name).is_none() {
        return Err(missing(kind, name));
    }
    app.catalog.drop_native(kind, name).await?;
    let stop = call.flag("stop");
    if stop {
        app.ask_to_stop(0);
    }
    let more = if stop {
        " and the server will be stopped soon."
    } else {
        ""
    };
    Ok(Reply::text(format!(
        "{} plugin {name} is deleted{more}",
        kind.word()
    )))
}

/// Addresses that the vendor of the original would use; nobody is asked.
async fn prebuilt(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let kind = kind_of(&call);
    let names: &[&str] = match kind {
        PluginKind::Sources => &["random", "sql", "video", "zmq"],
        PluginKind::Sinks => &[
            "image",
            "influx",
            "influx2",
            "kafka",
            "sql",
            "tdengine3",
            "zmq",
        ],
        PluginKind::Functions => &[
            "accumulateWordCount",
            "countPlusOne",
            "echo",
            "geohash",
            "image",
        ],
    };
    let arch = match std::env::consts::ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        other => other,
    };
    let host = app.config.basic.plugin_hosts.trim_end_matches('/');
    let base = format!("{host}/kuiper-plugins/2.4.0/debian/{}", kind.word());
    let all = names
        .iter()
        .map(|n| ((*n).to_owned(), format!("{base}/{n}_{arch}.zip").into()));
    Ok(Reply::json(&all.collect::<Map<String, Value>>().into()))
}

async fn register(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let name = call.name("name")?.to_owned();
    let functions = texts(&call.object().await?, "functions")?.unwrap_or_default();
    let kind = PluginKind::Functions;
    let mut request = app
        .catalog
        .native_plugin(kind, &name)
        .ok_or_else(|| missing(kind, &name))?;
    request.insert("functions".into(), functions.clone().into());
    app.catalog.put_native(kind, &name, request).await?;
    Ok(Reply::text(format!(
        "user defined functions {functions:?} in plugin {name} registered successfully"
    )))
}

/// Functions of plugins and the plugin of each.
fn plugin_functions(app: &App) -> Vec<(String, String)> {
    let all = app
        .catalog
        .native_plugins(PluginKind::Functions)
        .into_iter();
    all.flat_map(|(plugin, request)| {
        let given = texts(&request, "functions")
            .ok()
            .flatten()
            .filter(|f| !f.is_empty());
        let names = given.unwrap_or_else(|| vec![plugin.clone()]);
        names.into_iter().map(move |f| (f, plugin.clone()))
    })
    .collect()
}

async fn udfs(app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    let names: Vec<String> = plugin_functions(&app).into_iter().map(|(f, _)| f).collect();
    Ok(Reply::json(&names.into()))
}

async fn udf(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let name = call.name("name")?;
    match plugin_functions(&app).into_iter().find(|(f, _)| f == name) {
        Some((name, plugin)) => Ok(Reply::json(&json!({"name": name, "plugin": plugin}))),
        None => Err(ApiError::not_found(format!(
            "function {name} of a plugin is not found"
        ))),
    }
}
