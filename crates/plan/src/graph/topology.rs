//! Nodes and edges, and whether they make a graph that can run at all.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::error::{PlanError, Result};
use crate::graph::wrong;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NodeKind {
    Source,
    Operator,
    Sink,
}

pub(super) struct Node {
    pub kind: NodeKind,
    /// In lower case for operators.
    pub node_type: String,
    pub props: Value,
}

pub(super) struct Graph {
    pub nodes: BTreeMap<String, Node>,
    pub sources: Vec<String>,
    /// What flows into a node: from which node, and at a switch by which case.
    pub inputs: BTreeMap<String, Vec<(String, Option<usize>)>>,
}

/// Most nodes of a graph: far more than anyone draws.
const NODES_MAX: usize = 2_000;

fn object<'a>(v: &'a Value, key: &str) -> Result<&'a serde_json::Map<String, Value>> {
    v.get(key)
        .and_then(Value::as_object)
        .ok_or_else(|| PlanError::general(format!("the graph lacks an object \"{key}\"")))
}

fn names(list: &Value, what: &str) -> Result<Vec<String>> {
    let bad = || PlanError::general(format!("{what} must be a list of node names"));
    let list = list.as_array().ok_or_else(bad)?;
    list.iter()
        .map(|n| n.as_str().map(str::to_owned).ok_or_else(bad))
        .collect()
}

impl Graph {
    pub fn read(graph: &Value) -> Result<Graph> {
        let mut nodes = BTreeMap::new();
        for (name, node) in object(graph, "nodes")? {
            nodes.insert(name.clone(), read_node(name, node)?);
        }
        if nodes.len() > NODES_MAX {
            return Err(PlanError::general(format!(
                "a graph has at most {NODES_MAX} nodes"
            )));
        }
        let topo = graph.get("topo").unwrap_or(&Value::Null);
        let sources = names(topo.get("sources").unwrap_or(&Value::Null), "topo.sources")?;
        if sources.is_empty() {
            return Err(PlanError::general(
                "topo.sources is empty: nothing would ever flow",
            ));
        }
        let edges = object(topo, "edges")?;
        let mut graph = Graph {
            nodes,
            sources,
            inputs: BTreeMap::new(),
        };
        let mut outputs: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (from, to) in edges {
            for (port, target) in graph.targets(from, to)? {
                outputs.entry(from).or_default().push(target.clone());
                graph
                    .inputs
                    .entry(target)
                    .or_default()
                    .push((from.clone(), port));
            }
        }
        graph.check_ends(&outputs)?;
        graph.check_flow(&outputs)?;
        Ok(graph)
    }

    fn node(&self, name: &str) -> Result<&Node> {
        self.nodes
            .get(name)
            .ok_or_else(|| PlanError::general(format!("there is no node named {name}")))
    }

    /// The ends of a node's edges, with the case of a switch.
    fn targets(&self, from: &str, to: &Value) -> Result<Vec<(Option<usize>, String)>> {
        let node = self.node(from)?;
        if node.kind == NodeKind::Sink {
            return Err(wrong(from, "a sink has no edges out"));
        }
        let what = format!("the edges of node {from}");
        if node.node_type == "switch" {
            let lists = to.as_array().ok_or_else(|| {
                PlanError::general(format!("{what} must be a list of lists, one for each case"))
            })?;
            let mut all = Vec::new();
            for (port, list) in lists.iter().enumerate() {
                all.extend(names(list, &what)?.into_iter().map(|n| (Some(port), n)));
            }
            return Ok(all);
        }
        Ok(names(to, &what)?.into_iter().map(|n| (None, n)).collect())
    }

    /// Every node has the edges that its kind needs.
    fn check_ends(&self, outputs: &BTreeMap<&str, Vec<String>>) -> Result<()> {
        for name in &self.sources {
            if self.node(name)?.kind != NodeKind::Source {
                return Err(wrong(name, "it is in topo.sources but is no source"));
            }
        }
        for name in self.inputs.keys() {
            if self.node(name)?.kind == NodeKind::Source {
                return Err(wrong(name, "a source has no edges in"));
            }
        }
        for (name, node) in &self.nodes {
            let outs = outputs.get(name.as_str()).map_or(0, Vec::len);
            let ins = self.inputs.get(name).map_or(0, Vec::len);
            let several = matches!(node.node_type.as_str(), "window" | "watermark" | "join");
            match node.kind {
                NodeKind::Source if outs == 0 => {
                    return Err(wrong(
                        name,
                        "the source has no edge: where should its rows go?",
                    ));
                }
                NodeKind::Operator if outs == 0 => {
                    return Err(wrong(
                        name,
                        "the operator has no edge: where should its rows go?",
                    ));
                }
                NodeKind::Operator if ins == 0 => {
                    return Err(wrong(name, "no edge leads to the operator"));
                }
                NodeKind::Operator if ins > 1 && !several => {
                    return Err(wrong(
                        name,
                        format!("an operator of type {} has one input only", node.node_type),
                    ));
                }
                NodeKind::Sink if ins == 0 => return Err(wrong(name, "no edge leads to the sink")),
                _ => {}
            }
        }
        Ok(())
    }

    /// No cycles, and everything can be reached from the sources.
    fn check_flow(&self, outputs: &BTreeMap<&str, Vec<String>>) -> Result<()> {
        let mut open: BTreeMap<&str, usize> = self
            .inputs
            .iter()
            .map(|(n, i)| (n.as_str(), i.len()))
            .collect();
        let mut ready: Vec<&str> = self.sources.iter().map(String::as_str).collect();
        let mut seen: BTreeSet<&str> = ready.iter().copied().collect();
        if seen.len() < ready.len() {
            return Err(PlanError::general("topo.sources names a source twice"));
        }
        while let Some(node) = ready.pop() {
            for next in outputs.get(node).into_iter().flatten() {
                if let Some(left) = open.get_mut(next.as_str()) {
                    *left = left.saturating_sub(1);
                    if *left == 0 && seen.insert(next) {
                        ready.push(next);
                    }
                }
            }
        }
        match self.nodes.keys().find(|n| !seen.contains(n.as_str())) {
            Some(node) => Err(wrong(
                node,
                "it is not reached from the sources, or is part of a cycle",
            )),
            None => Ok(()),
        }
    }

    pub fn sinks(&self) -> impl Iterator<Item = (&String, &Node)> {
        self.nodes.iter().filter(|(_, n)| n.kind == NodeKind::Sink)
    }
}

fn read_node(name: &str, node: &Value) -> Result<Node> {
    let text = |key: &str| node.get(key).and_then(Value::as_str).unwrap_or("");
    let kind = match text("type") {
        "source" => NodeKind::Source,
        "operator" => NodeKind::Operator,
        "sink" => NodeKind::Sink,
        other => {
            return Err(wrong(name, format!("\"{other}\" is no type of node"))
                .expected("source, operator or sink"));
        }
    };
    let mut node_type = text("nodeType").to_owned();
    if kind == NodeKind::Operator {
        node_type.make_ascii_lowercase();
    }
    let props = node.get("props").cloned().unwrap_or(Value::Null);
    Ok(Node {
        kind,
        node_type,
        props,
    })
}
