//! The register of portable plugins.

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{Route, handler};
use crate::App;
use crate::archive::Archive;
use crate::error::{ApiError, ApiResult};
use crate::web::json::{text, texts};
use crate::web::{Call, Reply, check_name};

const BODY: &str = "{name, file: address of a zip, shellParas?}";
const ITEM: &str =
    "{name, version, language, executable, virtualEnvType?, env?, sources, sinks, functions}";

pub static ROUTES: &[Route] = &[
    Route::get(
        "/plugins/portables",
        handler!(list),
        "Lists the portable plugins.",
    )
    .gives("[{name, version, language, executable, sources, sinks, functions}]"),
    Route::post(
        "/plugins/portables",
        handler!(create),
        "Installs a portable plugin.",
    )
    .takes(BODY)
    .creates(),
    Route::get(
        "/plugins/portables/{name}",
        handler!(get),
        "Describes a portable plugin.",
    )
    .gives(ITEM),
    Route::put(
        "/plugins/portables/{name}",
        handler!(update),
        "Replaces a portable plugin.",
    )
    .takes(BODY),
    Route::delete(
        "/plugins/portables/{name}",
        handler!(delete),
        "Removes a portable plugin.",
    ),
    Route::get(
        "/plugins/portables/{name}/status",
        handler!(status),
        "Says how a portable plugin does.",
    )
    .gives("{refCount: {rule: count}, status, errMsg}"),
];

async fn list(app: Arc<App>, _call: Call) -> ApiResult<Reply> {
    let all = app.catalog.portable_plugins().into_iter();
    Ok(Reply::json(
        &all.map(|(_, v)| shown(&v)).collect::<Vec<_>>().into(),
    ))
}

/// Without the request that installed it.
fn shown(item: &Map<String, Value>) -> Value {
    let kept = item.iter().filter(|(k, _)| *k != "request");
    kept.map(|(k, v)| (k.clone(), v.clone()))
        .collect::<Map<_, _>>()
        .into()
}

fn find(app: &App, name: &str) -> ApiResult<Map<String, Value>> {
    let missing = || ApiError::not_found(format!("portable plugin {name} is not found"));
    app.catalog.portable_plugin(name).ok_or_else(missing)
}

async fn get(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    Ok(Reply::json(&shown(&find(&app, call.name("name")?)?)))
}

async fn status(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    find(&app, call.name("name")?)?;
    Ok(Reply::json(
        &json!({"refCount": {}, "status": "stop", "errMsg": ""}),
    ))
}

fn folder(app: &App, name: &str) -> PathBuf {
    app.config.dirs.plugins.join("portable").join(name)
}

/// Unpacks the archive and keeps what its descriptor says.
pub async fn install(
    app: &App,
    o: &Map<String, Value>,
    path_name: Option<&str>,
) -> ApiResult<String> {
    let own = text(o, "name")?.filter(|s| !s.is_empty());
    let name = path_name
        .or(own)
        .ok_or_else(|| ApiError::bad("the plugin has no name"))?;
    check_name("plugin name", name)?;
    let archive = Archive::read(
        app.fetch
            .bytes(text(o, "file")?.unwrap_or_default())
            .await?,
    )?;
    let item = descriptor(app, name, &archive, o)?;
    unpack(app, name, &archive)
        .map_err(|e| ApiError::bad(format!("portable plugin {name} cannot be unpacked: {e}")))?;
    app.catalog.put_portable(name, item).await?;
    Ok(name.to_owned())
}

fn descriptor(
    app: &App,
    name: &str,
    archive: &Archive,
    request: &Map<String, Value>,
) -> ApiResult<Map<String, Value>> {
    let json_name = format!("{name}.json");
    let described = archive
        .text(&json_name)
        .ok_or_else(|| ApiError::bad(format!("the archive holds no descriptor {json_name}")))?;
    let d = crate::web::json::object(described.as_bytes())?;
    let executable = text(&d, "executable")?.filter(|s| !s.is_empty());
    let executable =
        executable.ok_or_else(|| ApiError::bad(format!("{json_name} names no executable")))?;
    if !executable.split('/').all(|part| !matches!(part, "" | "..")) {
        return Err(ApiError::bad(format!(
            "{json_name}: executable {executable:?} must be a file of the archive"
        )));
    }
    let list = |key: &str| Ok::<_, ApiError>(texts(&d, key)?.unwrap_or_default());
    let (sources, sinks, functions) = (list("sources")?, list("sinks")?, list("functions")?);
    if sources.is_empty() && sinks.is_empty() && functions.is_empty() {
        return Err(ApiError::bad(format!(
            "{json_name} names no source, sink or function"
        )));
    }
    for symbol in sources.iter().chain(&sinks).chain(&functions) {
        check_name("symbol", symbol)?;
    }
    for source in &sources {
        if archive.text(&format!("sources/{source}.yaml")).is_none() {
            return Err(ApiError::bad(format!(
                "the archive holds no sources/{source}.yaml"
            )));
        }
    }
    let mut item = Map::new();
    item.insert("name".into(), name.into());
    item.insert(
        "version".into(),
        text(&d, "version")?.unwrap_or_default().into(),
    );
    item.insert(
        "language".into(),
        text(&d, "language")?.unwrap_or_default().into(),
    );
    let full = folder(app, name).join(executable);
    item.insert("executable".into(), full.display().to_string().into());
    for key in ["virtualEnvType", "env"] {
        if let Some(v) = text(&d, key)?.filter(|s| !s.is_empty()) {
            item.insert(key.into(), v.into());
        }
    }
    item.insert("sources".into(), sources.into());
    item.insert("sinks".into(), sinks.into());
    item.insert("functions".into(), functions.into());
    item.insert("request".into(), request.clone().into());
    Ok(item)
}

/// Descriptions go to `data`, the rest into the folder of the plugin. Scripts are not run.
fn unpack(app: &App, name: &str, archive: &Archive) -> std::io::Result<()> {
    let own = folder(app, name);
    let described = ["sources/", "sinks/", "functions/"];
    for (path, content) in archive.files() {
        let target = match described.iter().any(|d| path.starts_with(d)) {
            true => app.config.dirs.data.join(path),
            false => own.join(path),
        };
        if let Some(dir) = target.parent() {
            std::fs::create_dir_all(dir)?;
        }
        std::fs::write(target, content)?;
    }
    Ok(())
}

async fn create(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let o = call.object().await?;
    if let Some(name) = text(&o, "name")?
        && app.catalog.portable_plugin(name).is_some()
    {
        return Err(ApiError::bad(format!(
            "portable plugin {name} already exists"
        )));
    }
    let name = install(&app, &o, None).await?;
    Ok(Reply::created(format!("portable plugin {name} is created")))
}

async fn update(app: Arc<App>, mut call: Call) -> ApiResult<Reply> {
    let name = call.name("name")?.to_owned();
    install(&app, &call.object().await?, Some(&name)).await?;
    Ok(Reply::text(format!("portable plugin {name} is updated")))
}

async fn delete(app: Arc<App>, call: Call) -> ApiResult<Reply> {
    let name = call.name("name")?;
    if app.catalog.portable_plugin(name).is_none() {
        return Err(ApiError::bad(format!(
            "portable plugin {name} does not exist"
        )));
    }
    app.catalog.drop_portable(name).await?;
    let _ = tokio::fs::remove_dir_all(folder(&app, name)).await;
    Ok(Reply::text(format!("portable plugin {name} is deleted")))
}
