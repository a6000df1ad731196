//! Everything that is defined, or what some rules need.

use std::collections::{BTreeMap, BTreeSet};

use rekuiper_sql::StreamKind;
use serde_json::{Map, Value};

use super::Bundle;
use crate::App;
use crate::catalog::Kind;

/// Names of what is wanted; everything where there is no set.
#[derive(Default)]
struct Wanted {
    rules: BTreeSet<String>,
    sources: BTreeSet<String>,
    /// `kind.type.key`
    conf: BTreeSet<String>,
    schemas: BTreeSet<String>,
    /// Text of all statements, in which functions are looked for.
    sql: String,
}

/// All, or the rules of `ids` with what they need.
pub fn export(app: &App, ids: Option<&[String]>) -> Bundle {
    let wanted = ids.map(|ids| wanted(app, ids));
    let wants = |of: fn(&Wanted) -> &BTreeSet<String>, name: &str| {
        wanted.as_ref().is_none_or(|w| of(w).contains(name))
    };
    let calls = |name: &str| {
        wanted
            .as_ref()
            .is_none_or(|w| w.sql.contains(&format!("{name}(")))
    };
    let mut out = Bundle::default();
    for (part, kind) in [
        ("streams", StreamKind::Stream),
        ("tables", StreamKind::Table),
    ] {
        for (name, entry) in app.catalog.sources(kind) {
            if !entry.is_temp() && wants(|w| &w.sources, &name) {
                out.put(part, name, entry.statement.clone());
            }
        }
    }
    for rule in app.rules.all() {
        let def = rule.def();
        if !def.temp && wants(|w| &w.rules, &rule.id) {
            out.put("rules", &rule.id, def.text.clone());
        }
    }
    let kinds = [
        ("sourceConfig", Kind::Sources),
        ("sinkConfig", Kind::Sinks),
        ("connectionConfig", Kind::Connections),
    ];
    for (part, kind) in kinds {
        let mut by_type: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
        for (typ, key, props) in app.catalog.user_conf(kind) {
            if wants(|w| &w.conf, &format!("{}.{typ}.{key}", kind.word())) {
                by_type.entry(typ).or_default().insert(key, props.into());
            }
        }
        for (typ, keys) in by_type {
            out.put(part, typ, Value::Object(keys).to_string());
        }
    }
    for schema in app.catalog.all_schemas() {
        let key = format!("{}_{}", schema.kind, schema.name);
        if wants(|w| &w.schemas, &key) {
            out.put("Schema", key, schema.to_value().to_string());
        }
    }
    for name in app.catalog.services() {
        if let Some(s) = app
            .catalog
            .service(&name)
            .filter(|s| !s.request.is_empty() && s.functions.iter().any(|f| calls(&f.name)))
        {
            out.put("Service", name, Value::Object(s.request).to_string());
        }
    }
    for (id, script) in app.catalog.scripts() {
        if calls(&id) {
            out.put("scripts", id, Value::Object(script).to_string());
        }
    }
    if wanted.is_none() {
        for (key, request) in app.catalog.native_requests() {
            out.put("nativePlugins", key, Value::Object(request).to_string());
        }
        for (name, item) in app.catalog.portable_plugins() {
            let request = item.get("request").cloned().unwrap_or_default();
            out.put("portablePlugins", name, request.to_string());
        }
        for (name, request) in app.catalog.upload_requests() {
            out.put("uploads", name, Value::Object(request).to_string());
        }
    }
    out
}

fn wanted(app: &App, ids: &[String]) -> Wanted {
    let mut w = Wanted::default();
    for rule in ids.iter().filter_map(|id| app.rules.get(id)) {
        let def = rule.def();
        w.rules.insert(rule.id.clone());
        for source in def.sources() {
            want_source(app, &mut w, &source);
        }
        for action in &def.actions {
            let text = |key: &str| action.props.get(key).and_then(Value::as_str);
            if let Some(id) = text("resourceId") {
                w.conf.insert(format!("sinks.{}.{id}", action.sink));
            }
            want_connection(app, &mut w, text("connectionSelector"));
            want_schema(&mut w, text("format"), text("schemaId"));
        }
        w.sql.push_str(&def.text);
    }
    w
}

fn want_source(app: &App, w: &mut Wanted, name: &str) {
    let Some(entry) = app.catalog.source(name) else {
        return;
    };
    w.sources.insert(name.to_owned());
    let o = &entry.def.options;
    let typ = o.type_.as_deref().unwrap_or("mqtt");
    if let Some(key) = &o.conf_key {
        w.conf.insert(format!("sources.{typ}.{key}"));
    }
    let sections = app.catalog.conf_sections(Kind::Sources, typ);
    let key = o.conf_key.as_deref().unwrap_or("default");
    let selector = sections
        .get(key)
        .and_then(|p| p.get("connectionSelector"))
        .and_then(Value::as_str);
    want_connection(app, w, selector);
    want_schema(w, o.format.as_deref(), o.schema_id.as_deref());
}

fn want_connection(app: &App, w: &mut Wanted, id: Option<&str>) {
    if let Some(c) = id.and_then(|id| app.catalog.connection(id)) {
        w.conf.insert(format!("connections.{}.{}", c.typ, c.id));
    }
}

fn want_schema(w: &mut Wanted, format: Option<&str>, id: Option<&str>) {
    if let (Some(format), Some(id)) = (format, id) {
        let file = id.split('.').next().unwrap_or_default();
        w.schemas
            .insert(format!("{}_{file}", format.to_lowercase()));
    }
}
