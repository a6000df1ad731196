//! Source nodes as the streams and tables that expressions speak of.

use std::sync::Arc;

use rekuiper_functions::FunctionDef;
use rekuiper_sql::{StreamDef, StreamKind, StreamOptions};
use serde_json::Value;

use crate::catalog::{Catalog, StreamInfo};
use crate::error::Result;
use crate::graph::topology::{Graph, Node, NodeKind};
use crate::graph::{GraphSource, wrong};

/// A catalog in which the nodes are the streams.
pub(super) struct Sources<'a> {
    list: Vec<(GraphSource, StreamInfo)>,
    outer: &'a dyn Catalog,
}

impl<'a> Sources<'a> {
    pub fn read(graph: &Graph, outer: &'a dyn Catalog) -> Result<Self> {
        let mut list = Vec::new();
        for (name, node) in graph
            .nodes
            .iter()
            .filter(|(_, n)| n.kind == NodeKind::Source)
        {
            list.push(source(name, node, outer)?);
        }
        Ok(Sources { list, outer })
    }

    pub fn get(&self, node: &str) -> Option<&(GraphSource, StreamInfo)> {
        self.list.iter().find(|(s, _)| s.node == node)
    }

    pub fn is_lookup(&self, node: &str) -> bool {
        self.get(node)
            .is_some_and(|(_, i)| i.def.options.kind.as_deref() == Some("lookup"))
    }

    pub fn is_scan_table(&self, node: &str) -> bool {
        !self.is_lookup(node)
            && self
                .get(node)
                .is_some_and(|(_, i)| i.def.kind == StreamKind::Table)
    }

    pub fn into_list(self) -> Vec<GraphSource> {
        self.list.into_iter().map(|(s, _)| s).collect()
    }
}

impl Catalog for Sources<'_> {
    fn stream(&self, name: &str) -> Option<StreamInfo> {
        self.get(name).map(|(_, info)| info.clone())
    }

    fn external_function(&self, name: &str) -> Option<&'static FunctionDef> {
        self.outer.external_function(name)
    }
}

fn source(name: &str, node: &Node, catalog: &dyn Catalog) -> Result<(GraphSource, StreamInfo)> {
    let kind = &node.node_type;
    if !catalog.is_source_type(kind) {
        return Err(wrong(name, format!("there is no source of type {kind}")));
    }
    let text = |key: &str| {
        node.props
            .get(key)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    let stream = text("sourceName").filter(|s| !s.is_empty());
    let info = match &stream {
        Some(stream) => {
            let info = catalog.stream(stream).ok_or_else(|| {
                wrong(name, format!("stream or table {stream} is not found"))
            })?;
            check(
                name,
                node,
                &info,
                text("sourceType").as_deref().unwrap_or("stream"),
            )?;
            info
        }
        None => StreamInfo::new(Arc::new(inline(name, node))),
    };
    let def = info.def.clone();
    let source = GraphSource {
        node: name.to_owned(),
        stream,
        def,
        props: node.props.clone(),
    };
    Ok((source, info))
}

/// A node that names a stream must say of it what is so.
fn check(name: &str, node: &Node, info: &StreamInfo, source_type: &str) -> Result<()> {
    let kind = match source_type {
        "stream" => StreamKind::Stream,
        "table" => StreamKind::Table,
        other => {
            return Err(
                wrong(name, format!("sourceType {other} is unknown")).expected("stream or table")
            );
        }
    };
    let stream = &info.def.name;
    if info.def.kind != kind {
        return Err(wrong(name, format!("{stream} is no {source_type}")));
    }
    let is = info
        .def
        .options
        .type_
        .as_deref()
        .filter(|t| !t.is_empty())
        .unwrap_or("mqtt");
    if !is.eq_ignore_ascii_case(&node.node_type) {
        return Err(wrong(
            name,
            format!("{stream} is of type {is}, not {}", node.node_type),
        ));
    }
    Ok(())
}

/// The definition that a node's own properties make.
fn inline(name: &str, node: &Node) -> StreamDef {
    let text = |key: &str| {
        let found = node.props.get(key).and_then(Value::as_str);
        found.filter(|s| !s.is_empty()).map(str::to_owned)
    };
    let flag = |key: &str| node.props.get(key).and_then(Value::as_bool);
    let schema_id = text("schemaid").or_else(|| {
        Some(format!(
            "{}.{}",
            text("schemaName")?,
            text("schemaMessage")?
        ))
    });
    StreamDef {
        kind: StreamKind::Stream,
        name: name.into(),
        fields: None,
        options: StreamOptions {
            datasource: text("datasource"),
            key: text("key"),
            format: text("format"),
            conf_key: text("confKey"),
            type_: Some(node.node_type.clone()),
            strict_validation: flag("strictValidation"),
            timestamp: text("timestamp"),
            timestamp_format: text("timestampFormat"),
            shared: flag("shared"),
            schema_id,
            ..StreamOptions::default()
        },
    }
}
