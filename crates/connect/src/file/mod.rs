//! `file`: reads files and folders, writes results to files.

mod csv;
mod folder;
mod lines;
mod rolling;
mod sink;
mod stream;
mod source;
mod whole;

#[cfg(test)]
mod source_tests;

use crate::ConnectorDef;

pub static CONNECTOR: ConnectorDef = ConnectorDef {
    name: "file",
    source: Some(source::open),
    sink: Some(sink::open),
    lookup: None,
};
