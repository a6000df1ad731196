//! The decoder of a stream, from its definition.

use jiff::tz::TimeZone;
use rekuiper_formats::{DecodeOptions, Decoder, Format, Timestamp};
use rekuiper_sql::ast::{FieldDefault, FieldType, StreamDef};
use rekuiper_value::{ColType, Str, Value};

use crate::spec::{FlowCatalog, StreamSpec};
use crate::FlowError;

/// Builds the decoder; `event_time`: some rule on it wants the TIMESTAMP column.
pub fn decoder(
    spec: &StreamSpec,
    catalog: &dyn FlowCatalog,
    event_time: bool,
    zone: &TimeZone,
) -> Result<Decoder, FlowError> {
    let def = &spec.def;
    let options = &def.options;
    let format = Str::from(options.format.as_deref().unwrap_or("json"));
    let mut message = None;
    if Format::by_name(&format).is_ok_and(|f| f == Format::Protobuf) {
        let id = options.schema_id.as_deref().unwrap_or_default();
        message = Some(catalog.message(id).map_err(FlowError::Rule)?);
    }
    let timestamp = options.timestamp.as_deref().filter(|t| event_time && !t.is_empty());
    let delimiter = options
        .delimiter
        .as_deref()
        .or(spec.props.str("delimiter").ok().flatten())
        .unwrap_or(",");
    let decode = DecodeOptions {
        format,
        schema: def.fields.as_ref().filter(|f| !f.is_empty()).map(|fields| {
            fields.iter().map(|f| (f.name.clone(), col_type(&f.typ))).collect()
        }),
        strict: options.strict_validation.unwrap_or(false),
        defaults: defaults(def),
        timestamp: timestamp.map(|column| Timestamp {
            column: column.into(),
            format: options.timestamp_format.as_deref().map(Str::from),
        }),
        zone: zone.clone(),
        delimiter: delimiter.into(),
        fields: spec.props.list("fields")?.iter().map(|f| Str::from(f.as_str())).collect(),
        ints: spec.props.bool("useInt64ForWholeNumber", false)?,
        any_case: catalog.ignore_case(),
        message,
    };
    Decoder::new(decode).map_err(|e| FlowError::Rule(e.to_string()))
}

fn defaults(def: &StreamDef) -> Vec<(Str, Value)> {
    let fields = def.fields.iter().flatten();
    fields.filter_map(|f| Some((f.name.clone(), default(f.default.as_ref()?)))).collect()
}

fn default(d: &FieldDefault) -> Value {
    match d {
        FieldDefault::Bigint(i) => Value::Int(*i),
        FieldDefault::Float(f) => Value::Float(*f),
        FieldDefault::String(s) => Value::str(s.as_str()),
        FieldDefault::Boolean(b) => Value::Bool(*b),
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
        FieldType::Struct(fields) => ColType::Struct(
            fields.iter().map(|f| (f.name.clone(), col_type(&f.typ))).collect(),
        ),
    }
}
