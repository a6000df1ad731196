//! Graph rules: nodes and edges instead of a statement.
//!
//! A graph is taken apart into chains, one for each way into a sink; a chain is written down as the
//! SELECT that does the same, and planned like any other. What stands before a fork is planned
//! once for each branch.

mod chains;
mod nodes;
mod rewrite;
mod select;
mod sources;
mod topology;

use std::sync::Arc;

use rekuiper_sql::StreamDef;
use serde_json::Value;

use crate::catalog::Catalog;
use crate::error::{PlanError, Result};
use crate::physical::RulePlan;
use crate::{RuleOptions, build};

/// A graph rule that can be run.
pub struct GraphPlan {
    pub sources: Vec<GraphSource>,
    pub chains: Vec<GraphChain>,
    pub sinks: Vec<GraphSink>,
}

/// A source node.
pub struct GraphSource {
    pub node: String,
    /// The stream or table that it names; none where the node itself says what to read.
    pub stream: Option<String>,
    pub def: Arc<StreamDef>,
    pub props: Value,
}

/// A sink node.
pub struct GraphSink {
    pub node: String,
    /// The sink's type.
    pub kind: String,
    pub props: Value,
}

/// One way from sources to a sink.
pub struct GraphChain {
    /// Its sources are named by their nodes.
    pub plan: RulePlan,
    /// The operator nodes on the way, first to last.
    pub operators: Vec<String>,
    pub sink: String,
}

/// Plans the `graph` of a rule.
pub fn plan_graph(
    graph: &Value,
    catalog: &dyn Catalog,
    options: &RuleOptions,
) -> Result<GraphPlan> {
    let graph = topology::Graph::read(graph)?;
    let sources = sources::Sources::read(&graph, catalog)?;
    let mut chains = Vec::new();
    for chain in chains::all(&graph, &sources)? {
        let made = select::select(&graph, &chain, &sources)?;
        let mode = build::Mode {
            merge: made.merge,
            any_having: true,
        };
        let planned = build::plan(&made.select, &sources, options, mode)
            .map_err(|e| about_chain(e, &chain))?;
        let operators = chain.steps.iter().map(|s| s.node.clone()).collect();
        chains.push(GraphChain {
            plan: planned.plan,
            operators,
            sink: chain.sink,
        });
    }
    let sinks = graph
        .sinks()
        .map(|(node, n)| {
            if !catalog.is_sink_type(&n.node_type) {
                return Err(wrong(
                    node,
                    format!("there is no sink of type {}", n.node_type),
                ));
            }
            Ok(GraphSink {
                node: node.clone(),
                kind: n.node_type.clone(),
                props: n.props.clone(),
            })
        })
        .collect::<Result<_>>()?;
    Ok(GraphPlan {
        sources: sources.into_list(),
        chains,
        sinks,
    })
}

/// An error in a node.
fn wrong(node: &str, message: impl std::fmt::Display) -> PlanError {
    PlanError::general(format!("node {node}: {message}"))
}

/// Places in a statement that nobody wrote say nothing.
fn about_chain(e: PlanError, chain: &chains::Chain) -> PlanError {
    let nodes: Vec<&str> = chain.steps.iter().map(|s| s.node.as_str()).collect();
    PlanError {
        span: None,
        message: format!(
            "the way {} to sink {}: {}",
            nodes.join(", "),
            chain.sink,
            e.message
        ),
        ..e
    }
}
