//! Taking definitions in, with the reasons by name for what is refused.

use serde_json::{Value, json};

use super::{Bundle, KEYS, export};
use crate::App;
use crate::catalog::{Connection, Kind, PluginKind, StreamEntry};
use crate::engine::Change;
use crate::error::{ApiError, ApiResult};
use crate::routes::install;
use crate::rules::definition::RuleDef;
use crate::web::json::object;

/// What an import answers when all is well.
pub fn nothing_wrong() -> Value {
    json!({"ErrorMsg": "", "ConfigResponse": Bundle::default().to_value()})
}

/// Without `partial` all that is there is dropped first, even when the content turns out bad.
pub async fn import(app: &App, content: &str, partial: bool) -> ApiResult<()> {
    let bundle = Bundle::parse(content);
    if !partial {
        app.clear().await?;
    }
    let (message, errors) = match bundle {
        Ok(bundle) => (String::new(), take_in(app, &bundle).await),
        Err(e) => (e.message, Bundle::default()),
    };
    let failed = !message.is_empty() || !errors.is_empty();
    let report = json!({"ErrorMsg": message, "ConfigResponse": errors.to_value()});
    *app.last_import.lock().unwrap_or_else(|e| e.into_inner()) = errors;
    if failed {
        Err(ApiError::bad(report.to_string()))
    } else {
        Ok(())
    }
}

/// Errors of the last import for definitions, and what is installed for the rest.
pub fn status(app: &App) -> Value {
    let errors = app
        .last_import
        .lock()
        .unwrap_or_else(|e| e.into_inner())
        .clone();
    let installed = export(app, None);
    let with_errors = [
        "streams",
        "tables",
        "rules",
        "sourceConfig",
        "sinkConfig",
        "connectionConfig",
    ];
    let mut out = serde_json::Map::new();
    for key in KEYS {
        let from = if with_errors.contains(&key) {
            &errors
        } else {
            &installed
        };
        out.insert(key.into(), from.part(key).clone().into());
    }
    out.into()
}

/// In the order in which one thing needs the other. Each entry is taken whole or not at all.
async fn take_in(app: &App, bundle: &Bundle) -> Bundle {
    let order = [
        "uploads",
        "scripts",
        "Schema",
        "nativePlugins",
        "portablePlugins",
        "Service",
        "sourceConfig",
        "sinkConfig",
        "connectionConfig",
        "streams",
        "tables",
        "rules",
    ];
    let mut errors = Bundle::default();
    for key in order {
        for (name, text) in bundle.texts(key) {
            if let Err(e) = one(app, key, &name, &text).await {
                errors.put(key, name, e.message);
            }
        }
    }
    errors
}

async fn one(app: &App, key: &str, name: &str, text: &str) -> ApiResult<()> {
    let o = || object(text.as_bytes());
    match key {
        "streams" | "tables" => stream(app, name, text).await,
        "rules" => rule(app, name, text).await,
        "sourceConfig" => conf(app, Kind::Sources, name, text).await,
        "sinkConfig" => conf(app, Kind::Sinks, name, text).await,
        "connectionConfig" => conf(app, Kind::Connections, name, text).await,
        "uploads" => install::upload(app, &o()?).await.map(drop),
        "scripts" => install::script(app, &o()?, Some(name), false)
            .await
            .map(drop),
        "Service" => install::service(app, name, o()?).await,
        "portablePlugins" => install::portable(app, &o()?, Some(name)).await.map(drop),
        "nativePlugins" => {
            let (kind, plugin) = name.split_once('_').unwrap_or(("", name));
            let kind = PluginKind::of(kind)
                .ok_or_else(|| ApiError::bad(format!("{name} is no plugin of a known kind")))?;
            install::native(app, kind, o()?, Some(plugin))
                .await
                .map(drop)
        }
        "Schema" => {
            let (kind, schema) = name.split_once('_').unwrap_or(("", name));
            let read = install::schema(app, kind, &o()?, Some(schema)).await?;
            let (kind, name) = (read.kind.clone(), read.name.clone());
            app.catalog.put_schema(read, false).await?;
            Ok(app.engine.changed(Change::SchemaPut { kind, name }).await?)
        }
        _ => Ok(()),
    }
}

async fn stream(app: &App, name: &str, sql: &str) -> ApiResult<()> {
    app.replace_source(name, StreamEntry::parse(sql)?).await
}

async fn rule(app: &App, id: &str, text: &str) -> ApiResult<()> {
    let def: RuleDef = app.rules.parse(text, Some(id))?;
    app.rules.update(id, def).await
}

async fn conf(app: &App, kind: Kind, typ: &str, text: &str) -> ApiResult<()> {
    crate::web::check_name("type", typ)?;
    for (key, props) in object(text.as_bytes())? {
        crate::web::check_name("configuration key", &key)?;
        let Value::Object(props) = props else {
            return Err(ApiError::bad(format!(
                "{typ}.{key} must be an object of properties"
            )));
        };
        put_conf(app, kind, typ, &key, props).await?;
    }
    Ok(())
}

pub(super) async fn put_conf(
    app: &App,
    kind: Kind,
    typ: &str,
    key: &str,
    props: serde_json::Map<String, Value>,
) -> ApiResult<()> {
    if kind != Kind::Connections {
        return app.catalog.put_conf(kind, typ, key, props).await;
    }
    let c = Connection {
        id: key.to_owned(),
        typ: typ.to_owned(),
        props,
    };
    match app.catalog.connection(key) {
        Some(_) => app.catalog.update_connection(c).await?,
        None => app.catalog.create_connection(c).await?,
    }
    Ok(app
        .engine
        .changed(Change::ConnectionPut(key.to_owned()))
        .await?)
}

/// Streams, tables and rules alone; gives how many of each were taken.
pub async fn import_ruleset(app: &App, content: &str) -> ApiResult<[usize; 3]> {
    let bundle = Bundle::parse(content)?;
    let mut counts = [0; 3];
    for (count, key) in counts.iter_mut().zip(["streams", "tables", "rules"]) {
        for (name, text) in bundle.texts(key) {
            match one(app, key, &name, &text).await {
                Ok(()) => *count += 1,
                Err(e) => tracing::error!("import of {key} {name} failed: {e}"),
            }
        }
    }
    Ok(counts)
}
