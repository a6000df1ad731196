//! Connectors as the metadata endpoints show them.

use serde_json::{Map, Value, json};

use super::{ALL, Connector, Prop};

const MANUAL: &str = "https://github.com/lf-edge/ekuiper/tree/master/docs";

fn about(c: &Connector) -> Value {
    json!({
        "trial": false,
        // what a build without it can only describe is shown so
        "installed": rekuiper_connect::find(c.name).is_some(),
        "author": {"name": "rekuiper", "email": "", "company": "", "website": ""},
        "helpUrl": {"en": MANUAL, "zh": MANUAL},
        "description": {"en": c.en, "zh": c.zh},
    })
}

fn both(text: &str) -> Value {
    json!({"en": text, "zh": text})
}

fn field(p: &Prop, set: Option<&Value>) -> Value {
    let values: Value = serde_json::from_str(p.values).unwrap_or(Value::Null);
    json!({
        "exist": false,
        "name": p.name,
        "default": set.cloned().unwrap_or_else(|| p.default_value()),
        "type": p.typ,
        "control": p.control,
        "connection_related": p.connection,
        "optional": p.optional,
        "values": values,
        "hint": both(p.hint),
        "label": both(p.label),
    })
}

fn node(c: &Connector, category: &str) -> Value {
    json!({"category": category, "icon": "iconPath", "label": both(c.label)})
}

fn list(of: impl Fn(&Connector) -> bool, with_type: bool) -> Value {
    let one = |c: &&&Connector| {
        let mut o = Map::new();
        o.insert("name".into(), c.name.into());
        o.insert("about".into(), about(c));
        if with_type {
            o.insert("type".into(), "internal".into());
        }
        Value::Object(o)
    };
    ALL.iter()
        .filter(|c| of(c))
        .collect::<Vec<_>>()
        .iter()
        .map(one)
        .collect::<Vec<_>>()
        .into()
}

pub fn sources(lookup: bool) -> Value {
    list(|c| if lookup { c.lookup } else { c.source.is_some() }, true)
}

pub fn sinks() -> Value {
    list(|c| c.sink.is_some(), true)
}

pub fn connections() -> Value {
    list(|c| c.connection, false)
}

/// `sections` are the configuration keys and their properties.
pub fn source(c: &Connector, sections: &Map<String, Value>) -> Option<Value> {
    let source = c.source.as_ref()?;
    let data_source = match source.datasource {
        "" => json!({}),
        hint => json!({
            "default": "",
            "hint": {"en_US": hint, "zh_CN": hint},
            "label": {"en_US": "Data source", "zh_CN": "数据源"},
        }),
    };
    Some(json!({
        "about": about(c),
        "libs": [],
        "dataSource": data_source,
        "properties": fields(c.source_props(), sections),
        "node": node(c, "source"),
        "type": "internal",
    }))
}

pub fn connection(c: &Connector, sections: &Map<String, Value>) -> Option<Value> {
    if !c.connection {
        return None;
    }
    let source = c.source_props().filter(|p| p.connection);
    let sink = c.sink_props().filter(|p| p.connection && c.source.is_none());
    Some(json!({
        "about": about(c),
        "libs": [],
        "dataSource": {},
        "properties": fields(source.chain(sink), sections),
        "node": node(c, "source"),
    }))
}

pub fn sink(c: &Connector) -> Option<Value> {
    c.sink?;
    let props: Vec<Value> = c.sink_props().map(|p| field(p, None)).collect();
    let properties = if props.is_empty() {
        Value::Null
    } else {
        props.into()
    };
    Some(json!({
        "about": about(c),
        "libs": [],
        "properties": properties,
        "node": node(c, "sink"),
        "type": "internal",
    }))
}

fn fields(
    props: impl Iterator<Item = &'static Prop> + Clone,
    sections: &Map<String, Value>,
) -> Value {
    let mut out = Map::new();
    for (key, set) in sections {
        let list = props.clone().map(|p| field(p, set.get(p.name)));
        out.insert(key.clone(), list.collect::<Vec<_>>().into());
    }
    out.into()
}
