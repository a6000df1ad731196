//! What the server says of each connector: one file each, one line of registration here.

mod file;
mod httppull;
mod httppush;
mod log;
mod memory;
mod mqtt;
mod neuron;
mod nop;
mod redis;
mod redissub;
mod rest;
mod simulator;
mod sql;
mod sse;
mod websocket;

pub mod operators;
mod show;

pub use show::{connection, connections, sink, sinks, source, sources};

use serde_json::{Map, Value};

/// Every connector, by name.
pub static ALL: &[&Connector] = &[
    &file::CONNECTOR,
    &httppull::CONNECTOR,
    &httppush::CONNECTOR,
    &log::CONNECTOR,
    &memory::CONNECTOR,
    &mqtt::CONNECTOR,
    &neuron::CONNECTOR,
    &nop::CONNECTOR,
    &redis::CONNECTOR,
    &redissub::CONNECTOR,
    &rest::CONNECTOR,
    &simulator::CONNECTOR,
    &sql::CONNECTOR,
    &sse::CONNECTOR,
    &websocket::CONNECTOR,
];

/// One connector; `None` where it has no such side.
pub struct Connector {
    pub name: &'static str,
    pub label: &'static str,
    pub en: &'static str,
    pub zh: &'static str,
    pub source: Option<Source>,
    pub lookup: bool,
    pub sink: Option<&'static [Prop]>,
    /// Whether named connections of this type can be made.
    pub connection: bool,
}

pub struct Source {
    /// What DATASOURCE holds; empty where it is not used.
    pub datasource: &'static str,
    pub props: &'static [Prop],
}

/// One property; `default` and `values` are JSON.
pub struct Prop {
    pub name: &'static str,
    pub default: &'static str,
    pub typ: &'static str,
    pub control: &'static str,
    pub connection: bool,
    pub optional: bool,
    pub values: &'static str,
    pub label: &'static str,
    pub hint: &'static str,
}

/// A property that the connection needs.
const fn link(
    name: &'static str,
    default: &'static str,
    typ: &'static str,
    label: &'static str,
    hint: &'static str,
) -> Prop {
    Prop {
        name,
        default,
        typ,
        control: control(typ),
        connection: true,
        optional: false,
        values: "null",
        label,
        hint,
    }
}

/// An optional property.
const fn prop(
    name: &'static str,
    default: &'static str,
    typ: &'static str,
    label: &'static str,
    hint: &'static str,
) -> Prop {
    Prop {
        name,
        default,
        typ,
        control: control(typ),
        connection: false,
        optional: true,
        values: "null",
        label,
        hint,
    }
}

impl Prop {
    const fn of(self, values: &'static str) -> Prop {
        Prop {
            values,
            control: "select",
            ..self
        }
    }

    const fn maybe(self) -> Prop {
        Prop {
            optional: true,
            ..self
        }
    }

    const fn must(self) -> Prop {
        Prop {
            optional: false,
            ..self
        }
    }

    pub fn default_value(&self) -> Value {
        serde_json::from_str(self.default).unwrap_or(Value::Null)
    }
}

const fn control(typ: &str) -> &'static str {
    match typ.as_bytes() {
        b"bool" => "radio",
        b"list_string" => "list",
        b"object" => "list",
        _ => "text",
    }
}

pub fn find(name: &str) -> Option<&'static Connector> {
    ALL.iter()
        .copied()
        .find(|c| c.name.eq_ignore_ascii_case(name))
}

/// Whether tables of this type can be looked up.
pub fn offers_lookup(name: &str) -> bool {
    find(name).is_some_and(|c| c.lookup)
}

/// What holds for a source where etc has no file for it: the section `default`.
pub fn source_defaults(name: &str) -> Map<String, Value> {
    let props = find(name)
        .and_then(|c| c.source.as_ref())
        .map(|s| s.props)
        .unwrap_or_default();
    let given = props.iter().map(|p| (p.name.to_owned(), p.default_value()));
    given.filter(|(_, v)| !v.is_null()).collect()
}

/// The name of a property as it is spelled, of one in lower case.
pub fn spelled(connector: &str, lower: &str) -> Option<&'static str> {
    let c = find(connector)?;
    let source = c.source.as_ref().map(|s| s.props).unwrap_or_default();
    let all = source.iter().chain(c.sink.unwrap_or_default());
    all.map(|p| p.name).find(|n| n.eq_ignore_ascii_case(lower))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_and_every_value_is_json() {
        assert!(ALL.is_sorted_by_key(|c| c.name));
        for c in ALL {
            let source = c.source.as_ref().map(|s| s.props).unwrap_or_default();
            for p in source.iter().chain(c.sink.unwrap_or_default()) {
                assert!(
                    serde_json::from_str::<Value>(p.default).is_ok(),
                    "{} {}",
                    c.name,
                    p.name
                );
                assert!(
                    serde_json::from_str::<Value>(p.values).is_ok(),
                    "{} {}",
                    c.name,
                    p.name
                );
            }
        }
    }
}
