//! The streams of a case.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::tz::TimeZone;
use rekuiper_formats::{DecodeOptions, Timestamp};
use rekuiper_plan::{Catalog, RuleOptions, StreamInfo};
use rekuiper_sql::{FieldType, Statement, StreamDef, parse_statement};
use rekuiper_value::{ColType, Str};
use serde_json::Value as Json;

#[derive(Default)]
pub struct Streams(HashMap<String, StreamInfo>);

impl Catalog for Streams {
    fn stream(&self, name: &str) -> Option<StreamInfo> {
        self.0.get(name).cloned()
    }
}

impl Streams {
    pub fn of(case: &Json) -> Result<Streams, String> {
        let mut all = Streams::default();
        for s in case["streams"].as_array().into_iter().flatten() {
            all.create(&create(s))?;
        }
        Ok(all)
    }

    fn create(&mut self, ddl: &str) -> Result<(), String> {
        let Statement::Create(def) = parse_statement(ddl).map_err(|e| e.render(ddl))? else {
            return Err(format!("no CREATE: {ddl}"));
        };
        let mut info = StreamInfo::new(Arc::new(*def));
        // as a server says of its connectors
        info.can_lookup = info.def.options.type_.as_deref() != Some("file");
        let lookup = info.def.options.kind.as_deref() == Some("lookup");
        if lookup && (!info.can_lookup || info.def.options.key.is_none()) {
            return Err("a lookup table without KEY, or that cannot look up".to_owned());
        }
        self.0.insert(info.def.name.to_string(), info);
        Ok(())
    }
}

fn create(s: &Json) -> String {
    let text = |key: &str| s[key].as_str().unwrap_or("");
    let kind = if text("kind").is_empty() { "STREAM" } else { text("kind") };
    let bare = text("with").to_uppercase().replace(' ', "");
    let mut options = Vec::new();
    for (key, value) in [("TYPE", "file"), ("DATASOURCE", "some/where"), ("FORMAT", "json")] {
        if !bare.contains(&format!("{key}=")) {
            options.push(format!("{key}=\"{value}\""));
        }
    }
    options.extend(Some(text("with").to_owned()).filter(|w| !w.is_empty()));
    let (name, fields) = (text("name"), text("fields"));
    format!("CREATE {kind} `{name}` ({fields}) WITH ({})", options.join(", "))
}

pub fn rule_options(case: &Json, force_buffered: bool) -> RuleOptions {
    let o = &case["options"];
    let flag = |key: &str| o[key].as_bool().unwrap_or(false);
    let late = match &o["lateTolerance"] {
        Json::String(s) => match s.strip_suffix("ms") {
            Some(number) => number.parse().unwrap_or(0),
            None => s.trim_end_matches('s').parse::<i64>().map_or(0, |seconds| seconds * 1000),
        },
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
        force_buffered,
        ..RuleOptions::default()
    }
}

/// How a stream's messages are read.
pub fn decode_options(def: &StreamDef, event_time: bool) -> DecodeOptions {
    let options = &def.options;
    let stamp = options.timestamp.as_deref().filter(|t| event_time && !t.is_empty());
    let fields = def.fields.as_ref().filter(|f| !f.is_empty());
    DecodeOptions {
        format: Str::from(options.format.as_deref().unwrap_or("json")),
        schema: fields.map(|f| f.iter().map(|f| (f.name.clone(), col_type(&f.typ))).collect()),
        strict: options.strict_validation.unwrap_or(false),
        timestamp: stamp.map(|column| Timestamp {
            column: column.into(),
            format: options.timestamp_format.as_deref().map(Str::from),
        }),
        zone: TimeZone::UTC,
        delimiter: Str::from(options.delimiter.as_deref().unwrap_or(",")),
        ..DecodeOptions::default()
    }
}

fn col_type(t: &FieldType) -> ColType {
    match t {
        FieldType::Bigint => ColType::Bigint,
        FieldType::Float => ColType::Float,
        FieldType::String => ColType::String,
        FieldType::Datetime => ColType::Datetime,
        FieldType::Boolean => ColType::Boolean,
        FieldType::Bytea => ColType::Bytea,
        FieldType::Array(element) => ColType::Array(Box::new(col_type(element))),
        FieldType::Struct(fields) => {
            ColType::Struct(fields.iter().map(|f| (f.name.clone(), col_type(&f.typ))).collect())
        }
    }
}
