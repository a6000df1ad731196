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
mod shared;
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
    pub sink: Option<Groups>,
    /// Whether named connections of this type can be made.
    pub connection: bool,
}

pub struct Source {
    /// What DATASOURCE holds; empty where it is not used.
    pub datasource: &'static str,
    pub props: Groups,
}

/// Properties: those of the connector, and those that it shares with others ([`shared`]).
pub type Groups = &'static [&'static [Prop]];

impl Connector {
    pub fn source_props(&self) -> impl Iterator<Item = &'static Prop> + Clone {
        each(self.source.as_ref().map_or(&[], |s| s.props))
    }

    pub fn sink_props(&self) -> impl Iterator<Item = &'static Prop> + Clone {
        each(self.sink.unwrap_or_default())
    }
}

fn each(groups: Groups) -> impl Iterator<Item = &'static Prop> + Clone {
    groups.iter().flat_map(|group| group.iter())
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
    let props = find(name).map(Connector::source_props);
    let given = props.into_iter().flatten().map(|p| (p.name.to_owned(), p.default_value()));
    given.filter(|(_, v)| !v.is_null()).collect()
}

/// The name of a property as it is spelled, of one in lower case.
pub fn spelled(connector: &str, lower: &str) -> Option<&'static str> {
    let c = find(connector)?;
    let mut all = c.source_props().chain(c.sink_props());
    all.find(|p| p.name.eq_ignore_ascii_case(lower)).map(|p| p.name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_in_order_and_every_value_is_json() {
        assert!(ALL.is_sorted_by_key(|c| c.name));
        for c in ALL {
            for p in c.source_props().chain(c.sink_props()) {
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

#[cfg(test)]
mod options_tests;
