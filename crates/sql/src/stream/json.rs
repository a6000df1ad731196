//! The JSON of GET /streams/NAME and GET /streams/NAME/schema.

use serde_json::{Map, Value, json};

use crate::{Field, FieldType, StreamDef, StreamKind, StreamOptions, deep};

impl StreamDef {
    /// What GET /streams/NAME answers. Types may be nested thousands deep: to write the value
    /// out, give the writer room with [`crate::roomy`].
    pub fn to_json(&self) -> Value {
        let fields = match &self.fields {
            None => Value::Null,
            Some(fields) => fields.iter().map(|f| field(f, true)).collect(),
        };
        json!({
            "Name": self.name.as_str(),
            "StreamFields": fields,
            "Options": self.options.to_json(),
            "StreamType": match self.kind { StreamKind::Stream => 0, StreamKind::Table => 1 },
            "Statement": null,
        })
    }

    /// What GET /streams/NAME/schema answers: null for a stream without a schema.
    pub fn schema_json(&self) -> Value {
        self.fields.as_deref().map_or(Value::Null, schema_of)
    }
}

impl StreamOptions {
    /// Only what is set and neither empty, false nor 0.
    pub fn to_json(&self) -> Value {
        let mut out = Map::new();
        let mut text = |name: &str, value: &Option<String>| {
            if let Some(v) = value.as_deref().filter(|s| !s.is_empty()) {
                out.insert(name.into(), v.into());
            }
        };
        text("datasource", &self.datasource);
        text("key", &self.key);
        text("format", &self.format);
        text("confKey", &self.conf_key);
        text("type", &self.type_);
        text("timestamp", &self.timestamp);
        text("timestampFormat", &self.timestamp_format);
        text("schemaid", &self.schema_id);
        text("version", &self.version);
        text("extra", &self.extra);
        text("kind", &self.kind);
        text("delimiter", &self.delimiter);
        let flags = [
            ("strictValidation", self.strict_validation),
            ("shared", self.shared),
            ("temp", self.temp),
        ];
        for (name, value) in flags {
            if value == Some(true) {
                out.insert(name.into(), true.into());
            }
        }
        if let Some(n) = self.retain_size.filter(|n| *n != 0) {
            out.insert("retainSize".into(), n.into());
        }
        Value::Object(out)
    }
}

/// A field; those of a struct are shown without their defaults.
fn field(f: &Field, with_default: bool) -> Value {
    let mut out = Map::new();
    out.insert("Name".into(), f.name.as_str().into());
    out.insert("FieldType".into(), field_type(&f.typ));
    if let Some(default) = f.default.as_ref().filter(|_| with_default) {
        out.insert("DefaultClause".into(), default.to_string().into());
    }
    Value::Object(out)
}

fn field_type(typ: &FieldType) -> Value {
    let mut out = Map::new();
    match typ {
        FieldType::Array(t) => {
            out.insert("Type".into(), "array".into());
            out.insert("ElementType".into(), deep(|| field_type(t)));
        }
        FieldType::Struct(fields) => {
            out.insert("Type".into(), "struct".into());
            let fields = deep(|| fields.iter().map(|f| field(f, false)).collect());
            out.insert("Fields".into(), fields);
        }
        simple => return simple.word().into(),
    }
    Value::Object(out)
}

fn schema_of(fields: &[Field]) -> Value {
    let one = |f: &Field| {
        let mut schema = type_schema(&f.typ);
        if let Some(default) = &f.default {
            schema.insert("default".into(), default.to_string().into());
        }
        (f.name.to_string(), Value::Object(schema))
    };
    Value::Object(fields.iter().map(one).collect())
}

fn type_schema(typ: &FieldType) -> Map<String, Value> {
    let mut out = Map::new();
    out.insert("type".into(), typ.word().into());
    match typ {
        FieldType::Array(t) => {
            out.insert("items".into(), Value::Object(deep(|| type_schema(t))));
        }
        FieldType::Struct(fields) => {
            out.insert("properties".into(), deep(|| schema_of(fields)));
        }
        _ => {}
    }
    out.insert("index".into(), 0.into());
    out
}
