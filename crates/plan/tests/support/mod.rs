//! Reads recorded cases and plans their statements in-process.
#![allow(dead_code)]

use std::collections::HashMap;
use std::sync::Arc;

use rekuiper_plan::{Catalog, Planned, RuleOptions, StreamInfo, plan_rule};
use rekuiper_sql::{Statement, parse_select, parse_statement};
use serde_json::Value;

/// The streams of a case.
#[derive(Default)]
pub struct Streams(pub HashMap<String, StreamInfo>);

impl Catalog for Streams {
    fn stream(&self, name: &str) -> Option<StreamInfo> {
        self.0.get(name).cloned()
    }

    fn is_source_type(&self, kind: &str) -> bool {
        matches!(kind, "memory" | "mqtt" | "file")
    }

    fn is_sink_type(&self, kind: &str) -> bool {
        matches!(kind, "memory" | "mqtt" | "file" | "nop" | "log")
    }
}

fn text<'a>(v: &'a Value, key: &str) -> &'a str {
    v[key].as_str().unwrap_or("")
}

impl Streams {
    /// Adds what a CREATE statement says.
    pub fn create(&mut self, ddl: &str) -> Result<(), String> {
        match parse_statement(ddl).map_err(|e| e.render(ddl))? {
            Statement::Create(def) => {
                let mut info = StreamInfo::new(Arc::new(*def));
                // as the server's catalog says of its connectors
                info.can_lookup = info.def.options.type_.as_deref() != Some("file");
                let lookup = info.def.options.kind.as_deref() == Some("lookup");
                if lookup && (!info.can_lookup || info.def.options.key.is_none()) {
                    return Err("a lookup table without KEY, or that cannot look up".to_owned());
                }
                self.0.insert(info.def.name.to_string(), info);
                Ok(())
            }
            other => Err(format!("not a CREATE: {other:?}")),
        }
    }

    /// The streams that a case names, of `kind` unless it says otherwise.
    pub fn of(case: &Value, default_type: &str) -> Result<Streams, String> {
        let mut all = Streams::default();
        for s in case["streams"].as_array().into_iter().flatten() {
            let kind = if text(s, "kind").is_empty() {
                "STREAM"
            } else {
                text(s, "kind")
            };
            let with = text(s, "with");
            let bare = with.to_uppercase().replace(' ', "");
            let mut options: Vec<String> = if with.is_empty() {
                Vec::new()
            } else {
                vec![with.to_owned()]
            };
            for (key, value) in [
                ("TYPE", default_type),
                ("DATASOURCE", "some/where"),
                ("FORMAT", "json"),
            ] {
                if !bare.contains(&format!("{key}=")) {
                    options.push(format!("{key}=\"{value}\""));
                }
            }
            let (name, fields) = (text(s, "name"), text(s, "fields"));
            all.create(&format!(
                "CREATE {kind} `{name}` ({fields}) WITH ({})",
                options.join(", ")
            ))?;
        }
        Ok(all)
    }
}

/// The rule options of a case.
pub fn options(case: &Value) -> RuleOptions {
    let o = &case["options"];
    let flag = |key: &str| o[key].as_bool().unwrap_or(false);
    let late = match &o["lateTolerance"] {
        Value::String(s) => s.trim_end_matches("ms").parse().unwrap_or(0),
        other => other.as_i64().unwrap_or(0),
    };
    RuleOptions {
        is_event_time: flag("isEventTime"),
        late_tolerance_ms: late,
        send_meta_to_sink: flag("sendMetaToSink"),
        send_nil_field: flag("sendNilField"),
        concurrency: o["concurrency"].as_i64().unwrap_or(0),
        disable_buffer_full_discard: flag("disableBufferFullDiscard"),
        qos: o["qos"].as_i64().unwrap_or(0),
        ..RuleOptions::default()
    }
}

/// The statement of a case, put together from its parts.
pub fn statement(case: &Value) -> String {
    if let Some(sql) = case["sql"].as_str() {
        return sql.to_owned();
    }
    let mut out = String::new();
    for part in case["sql_parts"].as_array().into_iter().flatten() {
        let (text, times) = (
            part[0].as_str().unwrap_or(""),
            part[1].as_u64().unwrap_or(1),
        );
        for i in 0..times {
            out.push_str(&text.replace("{i}", &i.to_string()));
        }
    }
    out
}

/// Plans a case's statement; the error as users see it.
pub fn plan(case: &Value, default_type: &str) -> Result<Planned, String> {
    let streams = Streams::of(case, default_type)?;
    let sql = statement(case);
    let select = parse_select(&sql).map_err(|e| e.render(&sql))?;
    plan_rule(&select, &streams, &options(case)).map_err(|e| e.render(&sql))
}

/// The cases of a file.
pub fn cases(jsonl: &str) -> Vec<Value> {
    jsonl
        .lines()
        .filter(|l| !l.trim().is_empty())
        .map(|l| serde_json::from_str(l).unwrap_or_else(|e| panic!("{e} in {l}")))
        .collect()
}
