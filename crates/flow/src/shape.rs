//! What a sink's common properties make of the results: list or single rows, templates, chosen
//! fields, format, batches, compression, encryption.

use std::sync::Arc;

use rekuiper_connect::{ConnectError, Props};
use rekuiper_formats::{EncodeOptions, Encoder};
use rekuiper_template::Template;
use rekuiper_value::{Error, Object, Result, Str, Value, json};

use crate::output::Ready;
use crate::pack::Pack;
use crate::sink::SinkStats;
use crate::spec::FlowCatalog;

/// See the module's doc. One per lane; sinks with the same properties share it.
pub struct Shaper {
    single: bool,
    omit_if_empty: bool,
    template: Option<Template>,
    data_field: Option<Str>,
    fields: Vec<Str>,
    exclude: Vec<Str>,
    encoder: Encoder,
    /// Templates of the sink's own properties, in the sink's order.
    props: Vec<Prop>,
    /// The sink takes rows.
    rows: bool,
    batch: Option<Held>,
    pack: Option<Pack>,
    stats: Arc<SinkStats>,
}

enum Prop {
    Fixed(Str),
    Template(Template),
    /// An object property (headers): its values may be templates, the result is its JSON.
    Map(Vec<(String, Prop)>),
}

impl Prop {
    fn new(key: &str, text: &str) -> std::result::Result<Prop, ConnectError> {
        if !text.contains("{{") {
            return Ok(Prop::Fixed(text.into()));
        }
        let made = Template::parse(text);
        let made = made.map_err(|e| ConnectError::config(format!("property {key}: {e}")))?;
        Ok(Prop::Template(made))
    }

    fn of(props: &Props, key: &str) -> std::result::Result<Prop, ConnectError> {
        let Some(serde_json::Value::Object(map)) = props.get(key) else {
            return Prop::new(key, props.str_or(key, "")?);
        };
        let member = |(name, value): (&String, &serde_json::Value)| {
            let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            Ok((name.clone(), Prop::new(key, &text)?))
        };
        Ok(Prop::Map(map.iter().map(member).collect::<std::result::Result<_, ConnectError>>()?))
    }

    fn render(&self, value: &Value) -> Result<Str> {
        match self {
            Prop::Fixed(text) => Ok(text.clone()),
            Prop::Template(template) => {
                let mut out = Vec::new();
                template.render(value, &mut out)?;
                Ok(String::from_utf8_lossy(&out).as_ref().into())
            }
            Prop::Map(members) => {
                let mut map = serde_json::Map::new();
                for (name, prop) in members {
                    map.insert(name.clone(), prop.render(value)?.as_str().into());
                }
                Ok(serde_json::Value::Object(map).to_string().into())
            }
        }
    }
}

/// Results that wait for their batch to be full or due.
struct Held {
    size: usize,
    linger_ms: i64,
    since_ms: Option<i64>,
    items: Vec<Value>,
    props: Vec<Str>,
}

impl Shaper {
    /// `templated`: names of the sink's properties that may be templates.
    pub fn new(
        props: &Props,
        templated: &[&str],
        takes_rows: bool,
        pack: Option<Pack>,
        catalog: &dyn FlowCatalog,
        stats: Arc<SinkStats>,
    ) -> std::result::Result<Self, ConnectError> {
        let config = |e: String| ConnectError::config(e);
        let texts = |key: &str| -> std::result::Result<Vec<Str>, ConnectError> {
            Ok(props.list(key)?.iter().map(|s| Str::from(s.as_str())).collect())
        };
        let (fields, exclude) = (texts("fields")?, texts("excludeFields")?);
        if !fields.is_empty() && !exclude.is_empty() {
            return Err(config("field and excludeFields cannot both be set".into()));
        }
        let template = match props.str_or("dataTemplate", "")? {
            "" => None,
            text => Some(
                Template::parse(text).map_err(|e| config(format!("property dataTemplate: {e}")))?,
            ),
        };
        let data_field = match props.str_or("dataField", "")? {
            "" => props.str_or("tableDataField", "")?,
            field => field,
        };
        let mut own = Vec::new();
        for key in templated {
            own.push(Prop::of(props, key)?);
        }
        let format = props.str_or("format", "json")?;
        let message = match format.eq_ignore_ascii_case("protobuf") {
            true => Some(catalog.message(props.str_or("schemaId", "")?).map_err(config)?),
            false => None,
        };
        let encoder = Encoder::new(EncodeOptions {
            format: format.into(),
            delimiter: props.str_or("delimiter", ",")?.into(),
            fields: fields.clone(),
            message,
        })
        .map_err(|e| config(e.to_string()))?;
        Ok(Shaper {
            single: props.bool("sendSingle", false)?,
            omit_if_empty: props.bool("omitIfEmpty", false)?,
            template,
            data_field: (!data_field.is_empty()).then(|| data_field.into()),
            fields,
            exclude,
            encoder,
            props: own,
            rows: takes_rows,
            batch: Held::new(props)?,
            pack,
            stats,
        })
    }

    /// One emission. Failures are counted; they lose the emission (or the row, with sendSingle).
    pub fn push(&mut self, emission: &Arc<Vec<Object>>, now_ms: i64, ready: &mut Ready) {
        if emission.is_empty() && self.omit_if_empty {
            return;
        }
        if self.single {
            for row in emission.iter() {
                if !(self.omit_if_empty && row.is_empty()) {
                    self.one(Value::object(row.clone()), now_ms, ready);
                }
            }
            return;
        }
        if self.is_plain_rows() {
            ready.more().rows.push(emission.clone());
            return;
        }
        let list = emission.iter().map(|r| Value::object(r.clone())).collect();
        self.one(Value::array(list), now_ms, ready);
    }

    /// A sink of rows that wants them as they are.
    fn is_plain_rows(&self) -> bool {
        self.rows
            && self.props.is_empty()
            && self.template.is_none()
            && self.data_field.is_none()
            && self.fields.is_empty()
            && self.exclude.is_empty()
            && self.batch.is_none()
    }

    fn one(&mut self, value: Value, now_ms: i64, ready: &mut Ready) {
        if let Err(error) = self.try_one(value, now_ms, ready) {
            self.stats.transform.exception(&error.0, now_ms);
        }
    }

    fn try_one(&mut self, value: Value, now_ms: i64, ready: &mut Ready) -> Result<()> {
        let props = self.own_props(&value)?;
        if let Some(held) = &mut self.batch {
            held.items.push(value);
            held.props = props;
            held.since_ms.get_or_insert(now_ms);
            if held.size > 0 && held.items.len() >= held.size {
                self.flush(now_ms, ready);
            }
            return Ok(());
        }
        self.payload(value, props, ready)
    }

    fn own_props(&self, value: &Value) -> Result<Vec<Str>> {
        self.props.iter().map(|prop| prop.render(value)).collect()
    }

    /// Template, choice of fields, encoding, packing: the payload at the end of `ready`.
    fn payload(&mut self, value: Value, props: Vec<Str>, ready: &mut Ready) -> Result<()> {
        let start = ready.buf.len();
        let done = self.shaped(value, ready);
        match done {
            Ok(true) => {
                self.pack(start, ready)?;
                ready.end();
            }
            Ok(false) => {} // went out as rows
            Err(error) => {
                ready.buf.truncate(start);
                return Err(error);
            }
        }
        if !self.props.is_empty() {
            ready.more().props.push(props);
        }
        if let Some(header) = self.encoder.header() {
            ready.more().header.get_or_insert_with(|| header.into());
        }
        Ok(())
    }

    /// True: bytes were appended; false: rows.
    fn shaped(&mut self, mut value: Value, ready: &mut Ready) -> Result<bool> {
        let chooses =
            self.data_field.is_some() || !self.fields.is_empty() || !self.exclude.is_empty();
        if let Some(template) = &self.template {
            let start = ready.buf.len();
            template.render(&value, &mut ready.buf)?;
            if !chooses && self.encoder.is_text() && !self.rows {
                return Ok(true);
            }
            let text = ready.buf.split_off(start);
            value = json::parse(&text)?;
        }
        if chooses {
            value = self.choose(value)?;
        }
        if self.rows {
            ready.more().rows.push(Arc::new(rows_of(value)?));
            return Ok(false);
        }
        self.encoder.encode_value(&value, &mut ready.buf)?;
        Ok(true)
    }

    fn choose(&self, mut value: Value) -> Result<Value> {
        if let Some(field) = &self.data_field {
            let row = match &value {
                Value::Array(rows) => rows.first().cloned().unwrap_or_default(),
                other => other.clone(),
            };
            let found = row.as_object().and_then(|o| o.get(field)).cloned().unwrap_or_default();
            value = match found {
                Value::Object(_) | Value::Array(_) => found,
                other => {
                    return Err(Error::new(format!(
                        "dataField {field} must hold an object or a list of objects, found {}",
                        other.kind_name()
                    )));
                }
            };
        }
        Ok(match value {
            Value::Array(rows) => {
                Value::array(rows.iter().map(|row| self.members(row)).collect::<Result<_>>()?)
            }
            other => self.members(&other)?,
        })
    }

    fn members(&self, row: &Value) -> Result<Value> {
        let Value::Object(row) = row else {
            return Err(Error::new(format!("expected an object, found {}", row.kind_name())));
        };
        if !self.fields.is_empty() {
            let pick = |f: &Str| (f.clone(), row.get(f).cloned().unwrap_or(Value::Null));
            return Ok(Value::object(self.fields.iter().map(pick).collect()));
        }
        let mut row = Object::clone(row);
        row.retain(|name, _| !self.exclude.contains(name));
        Ok(Value::object(row))
    }

    fn pack(&self, start: usize, ready: &mut Ready) -> Result<()> {
        match &self.pack {
            Some(pack) => pack.run(start, &mut ready.buf),
            None => Ok(()),
        }
    }

    pub fn tick(&mut self, now_ms: i64, ready: &mut Ready) {
        if self.deadline().is_some_and(|at| at <= now_ms) {
            self.flush(now_ms, ready);
        }
    }

    pub fn deadline(&self) -> Option<i64> {
        let held = self.batch.as_ref()?;
        (held.linger_ms > 0).then_some(held.since_ms? + held.linger_ms)
    }

    /// What is held goes out as one payload.
    pub fn flush(&mut self, now_ms: i64, ready: &mut Ready) {
        let Some(held) = &mut self.batch else { return };
        held.since_ms = None;
        let items = std::mem::take(&mut held.items);
        let props = std::mem::take(&mut held.props);
        if items.is_empty() {
            return;
        }
        if let Err(error) = self.payload(Value::array(items), props, ready) {
            self.stats.transform.exception(&error.0, now_ms);
        }
    }

    /// An error that travels to the sink: bare text, or a row for sinks of rows.
    pub fn push_error(&mut self, error: &Error, ready: &mut Ready) {
        if self.rows {
            let text = Value::str(&*error.0);
            ready.more().rows.push(Arc::new(vec![Object::from([("error".into(), text)])]));
        } else {
            ready.buf.extend_from_slice(error.0.as_bytes());
            ready.end();
        }
        if !self.props.is_empty() {
            ready.more().props.push(self.own_props(&Value::Null).unwrap_or_default());
        }
    }
}

impl Held {
    fn new(props: &Props) -> std::result::Result<Option<Held>, ConnectError> {
        let size = props.int("batchSize", 0)?;
        let linger_ms = props.millis("lingerInterval", 0)?;
        if size < 0 || linger_ms < 0 {
            return Err(ConnectError::config("batchSize and lingerInterval must not be negative"));
        }
        let held = Held {
            size: size as usize,
            linger_ms,
            since_ms: None,
            items: Vec::new(),
            props: Vec::new(),
        };
        Ok((size > 0 || linger_ms > 0).then_some(held))
    }
}

fn rows_of(value: Value) -> Result<Vec<Object>> {
    let object = |v: &Value| match v {
        Value::Object(o) => Ok(Object::clone(o)),
        other => Err(Error::new(format!("expected an object, found {}", other.kind_name()))),
    };
    match &value {
        Value::Array(items) => items.iter().map(object).collect(),
        one => Ok(vec![object(one)?]),
    }
}

/// Whether a sink's properties leave plain JSON of whole rows, which needs no shaper.
pub fn is_plain_json(props: &Props, templated: &[&str], takes_rows: bool) -> bool {
    let unset = |key: &str| match props.get(key) {
        None => true,
        Some(serde_json::Value::String(s)) => s.is_empty(),
        Some(serde_json::Value::Array(a)) => a.is_empty(),
        Some(serde_json::Value::Number(n)) => n.as_f64() == Some(0.0),
        Some(_) => false,
    };
    let json = props.str_or("format", "json").is_ok_and(|f| f.eq_ignore_ascii_case("json"));
    let plain = [
        "dataTemplate", "dataField", "tableDataField", "fields", "excludeFields", "batchSize",
        "lingerInterval",
    ];
    json && !takes_rows && templated.is_empty() && plain.iter().all(|k| unset(k))
}
