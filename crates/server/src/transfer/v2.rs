//! The YAML form: readable, with rules written out in full.

use serde_json::{Map, Value, json};

use super::export;
use super::import::put_conf;
use crate::App;
use crate::catalog::{Kind, PluginKind, StreamEntry};
use crate::config::duration;
use crate::error::{ApiError, ApiResult};
use crate::routes::install;
use crate::rules::definition::{RuleDef, RuleOptions};
use crate::web::check_name;

const KINDS: [(&str, &str, Kind); 3] = [
    ("sourceConfig", "sources", Kind::Sources),
    ("sinkConfig", "sinks", Kind::Sinks),
    ("connectionConfig", "connections", Kind::Connections),
];
const REQUESTS: [(&str, &str); 5] = [
    ("nativePlugins", "nativePlugins"),
    ("portablePlugins", "portablePlugins"),
    ("service", "Service"),
    ("schema", "Schema"),
    ("uploads", "uploads"),
];

pub fn export_yaml(app: &App) -> ApiResult<String> {
    let all = export(app, None);
    let mut out = Map::new();
    for (part, word, kind) in KINDS {
        let entries = app.catalog.user_conf(kind).into_iter();
        let named = entries.map(|(typ, key, props)| (format!("{word}.{typ}.{key}"), props.into()));
        put(&mut out, part, named.collect());
    }
    for (part, key) in REQUESTS {
        let read = |text: String| serde_json::from_str(&text).unwrap_or(Value::Null);
        put(
            &mut out,
            part,
            all.texts(key)
                .into_iter()
                .map(|(n, t)| (n, read(t)))
                .collect(),
        );
    }
    let sql = |key: &str| -> Map<String, Value> {
        all.texts(key)
            .into_iter()
            .map(|(n, t)| (n, json!({"sql": t})))
            .collect()
    };
    out.insert("streams".into(), sql("streams").into());
    put(&mut out, "tables", sql("tables"));
    let rules = app
        .rules
        .all()
        .into_iter()
        .map(|r| r.def())
        .filter(|d| !d.temp);
    let rules: Map<String, Value> = rules.map(|d| (d.id.clone(), full(&d))).collect();
    out.insert("rules".into(), rules.into());
    serde_norway::to_string(&Value::Object(out))
        .map_err(|e| ApiError::bad(format!("the definitions cannot be written as YAML: {e}")))
}

fn put(out: &mut Map<String, Value>, part: &str, entries: Map<String, Value>) {
    if !entries.is_empty() {
        out.insert(part.into(), entries.into());
    }
}

/// A rule with all its options.
fn full(def: &RuleDef) -> Value {
    let mut o = Map::new();
    o.insert("triggered".into(), def.triggered.into());
    o.insert("id".into(), def.id.clone().into());
    for (key, text) in [("name", &def.name), ("version", &def.version)] {
        if !text.is_empty() {
            o.insert(key.into(), text.clone().into());
        }
    }
    if let Some(sql) = &def.sql {
        o.insert("sql".into(), sql.clone().into());
    }
    if let Some(graph) = &def.graph {
        o.insert("graph".into(), Map::clone(graph).into());
    }
    let actions = def.actions.iter().map(|a| json!({a.sink.clone(): a.props}));
    o.insert("actions".into(), actions.collect::<Vec<_>>().into());
    o.insert("options".into(), options(&def.options).into());
    if let Some(tags) = &def.tags {
        o.insert("tags".into(), tags.clone().into());
    }
    o.into()
}

fn options(o: &RuleOptions) -> Map<String, Value> {
    let mut out = Map::new();
    let mut put = |key: &str, v: Value| drop(out.insert(key.into(), v));
    put("debug", o.debug.into());
    if !o.log_filename.is_empty() {
        put("logFilename", o.log_filename.clone().into());
    }
    put("isEventTime", o.is_event_time.into());
    put("lateTolerance", duration::show(o.late_tolerance).into());
    put("concurrency", o.concurrency.into());
    put("bufferLength", o.buffer_length.into());
    put("sendMetaToSink", o.send_meta_to_sink.into());
    put("sendNilField", o.send_nil_field.into());
    put("sendError", o.send_error.into());
    if o.qos != 0 {
        put("qos", o.qos.into());
    }
    put(
        "checkpointInterval",
        duration::show(o.checkpoint_interval).into(),
    );
    if o.restart_attempts != 0 {
        put("restartStrategy", json!({"attempts": o.restart_attempts}));
    }
    for (key, text) in [("cron", &o.cron), ("duration", &o.duration)] {
        if !text.is_empty() {
            put(key, text.clone().into());
        }
    }
    let range = |r: &crate::rules::definition::Range| {
        let (from, to) = (r.begin_ms, r.end_ms);
        json!({"begin": r.begin, "end": r.end, "beginTimestamp": from, "endTimestamp": to})
    };
    if !o.cron_datetime_range.is_empty() {
        put(
            "cronDatetimeRange",
            o.cron_datetime_range
                .iter()
                .map(range)
                .collect::<Vec<_>>()
                .into(),
        );
    }
    if !o.plan_optimize_strategy.is_empty() {
        put(
            "planOptimizeStrategy",
            o.plan_optimize_strategy.clone().into(),
        );
    }
    let flags = [
        ("notifySub", o.notify_sub),
        ("disableBufferFullDiscard", o.disable_buffer_full_discard),
        ("enableSaveStateBeforeStop", o.enable_save_state_before_stop),
    ];
    for (key, on) in flags.into_iter().filter(|(_, on)| *on) {
        put(key, on.into());
    }
    if o.use_slice_tuple {
        put("experiment", json!({"useSliceTuple": true}));
    }
    out
}

/// Takes in what the YAML holds; existing streams and rules are replaced.
pub async fn import_yaml(app: &App, content: &str) -> ApiResult<()> {
    let parsed: Value = serde_norway::from_str(content)
        .map_err(|e| ApiError::bad(format!("the content is not valid YAML: {e}")))?;
    let Value::Object(all) = parsed else {
        return Err(ApiError::bad(
            "the content must be a map of streams, rules and so on",
        ));
    };
    let part = |key: &str| -> ApiResult<Map<String, Value>> {
        Ok(crate::web::json::nested(&all, key)?
            .cloned()
            .unwrap_or_default())
    };
    let mut errors = Vec::new();
    let mut note = |what: &str, name: &str, result: ApiResult<()>| {
        if let Err(e) = result {
            errors.push(format!("{what} {name}: {}", e.message));
        }
    };
    for key in [
        "uploads",
        "schema",
        "nativePlugins",
        "portablePlugins",
        "service",
    ] {
        for (name, v) in part(key)? {
            note(key, &name, request(app, key, &name, &v).await);
        }
    }
    for (key, word, kind) in KINDS {
        for (name, v) in part(key)? {
            note(key, &name, conf(app, kind, word, &name, v).await);
        }
    }
    for key in ["streams", "tables"] {
        for (name, v) in part(key)? {
            let sql = v["sql"].as_str().unwrap_or_default();
            let entry = StreamEntry::parse(sql);
            let result = match entry {
                Ok(entry) => app.replace_source(&name, entry).await,
                Err(e) => Err(e),
            };
            note(key, &name, result);
        }
    }
    for (id, v) in part("rules")? {
        note("rule", &id, rule(app, &id, v).await);
    }
    if errors.is_empty() {
        Ok(())
    } else {
        Err(ApiError::bad(errors.join("; ")))
    }
}

async fn request(app: &App, key: &str, name: &str, v: &Value) -> ApiResult<()> {
    let Value::Object(o) = v else {
        return Err(ApiError::bad("it must be an object"));
    };
    match key {
        "uploads" => install::upload(app, o).await.map(drop),
        "service" => install::service(app, name, o.clone()).await,
        "portablePlugins" => install::portable(app, o, Some(name)).await.map(drop),
        "nativePlugins" => {
            let (kind, plugin) = name.split_once('_').unwrap_or(("", name));
            let kind =
                PluginKind::of(kind).ok_or_else(|| ApiError::bad("its kind is not known"))?;
            install::native(app, kind, o.clone(), Some(plugin))
                .await
                .map(drop)
        }
        _ => {
            let (kind, schema) = name.split_once('_').unwrap_or(("", name));
            let schema = install::schema(app, kind, o, Some(schema)).await?;
            app.catalog.put_schema(schema, false).await.map(drop)
        }
    }
}

async fn conf(app: &App, kind: Kind, word: &str, name: &str, v: Value) -> ApiResult<()> {
    let mut parts = name.splitn(3, '.');
    let (first, typ, key) = (parts.next(), parts.next(), parts.next());
    let (Some(typ), Some(key), true) = (typ, key, first == Some(word)) else {
        return Err(ApiError::bad(format!(
            "its name must be of the form {word}.TYPE.KEY"
        )));
    };
    check_name("type", typ)?;
    check_name("configuration key", key)?;
    let Value::Object(props) = v else {
        return Err(ApiError::bad("it must be an object"));
    };
    put_conf(app, kind, typ, key, props).await
}

/// A rule stands as it is written: one that does not say it is triggered is not.
async fn rule(app: &App, id: &str, v: Value) -> ApiResult<()> {
    let Value::Object(mut o) = v else {
        return Err(ApiError::bad("it must be an object"));
    };
    o.entry("triggered").or_insert(Value::Bool(false));
    let text = Value::Object(o).to_string();
    app.rules
        .update(id, app.rules.parse(&text, Some(id))?)
        .await
}
