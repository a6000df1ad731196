//! From a rule's definition to its parts: plan, operators, sources, sinks.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use rekuiper_connect::{Lookup, Props};
use rekuiper_ops::chain;
use rekuiper_plan::physical::{RulePlan, SourceKind};
use rekuiper_plan::{Planned, plan_graph, plan_rule};
use rekuiper_value::Str;

use crate::FlowError;
use crate::engine::EngineConfig;
use crate::intern;
use crate::metrics::{Node, NodeRef, Topo};
use crate::output::RuleOutput;
use crate::rule::{Ended, RuleParts};
use crate::spec::{ActionSpec, FlowCatalog, RuleSpec, StreamSpec};

mod sink;
mod source;
mod topo;

use sink::{MadeSink, Placed, sink};
pub use source::{MadeStream, lookup, stream_nodes};
use source::{lookups, sources};

/// One chain of a rule before it runs: a SQL rule has one, a graph rule one for each way into a
/// sink.
pub struct Draft {
    /// Names of streams and tables.
    pub sources: Vec<String>,
    plan: RulePlan,
    schema: Vec<String>,
    streams: Vec<Option<MadeStream>>,
    sinks: Vec<MadeSink>,
    /// Properties of the lookup tables it asks.
    lookup_props: HashMap<Str, Props>,
    names: Names,
}

/// How nodes are called.
enum Names {
    /// `op_2_filter`: by place and kind.
    Sql,
    /// `op_flt`: by the names that the graph gives.
    Graph(Vec<String>),
}

/// Ready to run.
pub struct Built {
    pub parts: RuleParts,
    /// One a source of the rule; `None` for lookup tables.
    pub streams: Vec<Option<MadeStream>>,
    /// Operators and sinks.
    pub nodes: Vec<NodeRef>,
    pub topo: Topo,
    pub schema: Vec<String>,
    /// Of a graph rule: nodes have the names that the graph gives.
    pub graph: bool,
}

/// Parses and plans.
pub fn plan(spec: &RuleSpec, catalog: &dyn FlowCatalog) -> Result<Planned, FlowError> {
    let select = rekuiper_sql::parse_select(&spec.sql)
        .map_err(|e| FlowError::Rule(e.render(&spec.sql)))?;
    plan_rule(&select, catalog.as_plan(), &spec.plan)
        .map_err(|e| FlowError::Rule(e.render(&spec.sql)))
}

/// Plans, and makes sources and sinks; nothing is started.
pub fn build(
    spec: &RuleSpec,
    catalog: &dyn FlowCatalog,
    config: &EngineConfig,
) -> Result<Vec<Draft>, FlowError> {
    if let Some(graph) = &spec.graph {
        return graph_drafts(graph, spec, catalog, config);
    }
    let planned = plan(spec, catalog)?;
    if spec.actions.is_empty() {
        return Err(FlowError::Rule("a rule needs at least one action".into()));
    }
    let find = |name: &Str| catalog.stream_spec(name).map(|found| (name.clone(), found));
    let (streams, lookup_props) = sources(&planned.plan, &find, spec, catalog, config)?;
    let mut sinks = Vec::new();
    for (at, action) in spec.actions.iter().enumerate() {
        sinks.push(sink(action, format!("{}_{at}", action.typ), catalog)?);
    }
    Ok(vec![Draft {
        sources: planned.sources.clone(),
        schema: planned.schema.iter().map(|s| s.to_string()).collect(),
        plan: planned.plan,
        streams,
        sinks,
        lookup_props,
        names: Names::Sql,
    }])
}

fn graph_drafts(
    graph: &serde_json::Value,
    spec: &RuleSpec,
    catalog: &dyn FlowCatalog,
    config: &EngineConfig,
) -> Result<Vec<Draft>, FlowError> {
    let planned = plan_graph(graph, catalog.as_plan(), &spec.plan)
        .map_err(|e| FlowError::Rule(e.to_string()))?;
    let find = |node: &Str| {
        let source = planned.sources.iter().find(|s| s.node == node.as_str())?;
        let Some(stream) = &source.stream else {
            let own = source.props.as_object().cloned().unwrap_or_default();
            let props = Props::new(own).over(&catalog.source_props(&source.def));
            return Some((node.clone(), StreamSpec { def: source.def.clone(), props }));
        };
        catalog.stream_spec(stream).map(|found| (Str::from(stream.as_str()), found))
    };
    let names: Vec<String> = planned.sources.iter().filter_map(|s| s.stream.clone()).collect();
    let mut drafts = Vec::new();
    for chain in planned.chains {
        let Some(end) = planned.sinks.iter().find(|s| s.node == chain.sink) else { continue };
        let props = catalog.sink_props(&end.kind, end.props.as_object());
        let action = ActionSpec { typ: end.kind.clone(), props };
        let (streams, lookup_props) = sources(&chain.plan, &find, spec, catalog, config)?;
        drafts.push(Draft {
            sources: names.clone(),
            schema: Vec::new(),
            plan: chain.plan,
            streams,
            sinks: vec![sink(&action, end.node.clone(), catalog)?],
            lookup_props,
            names: Names::Graph(chain.operators),
        });
    }
    Ok(drafts)
}

impl Draft {
    /// A lookup table that the rule asks and that is not open.
    pub fn closed_table(&self, tables: &HashMap<String, Arc<dyn Lookup>>) -> Option<&str> {
        let asked = self.plan.sources.iter().filter(|s| s.kind == SourceKind::Lookup);
        let mut names = asked.map(|s| s.stream.as_str());
        names.find(|name| !tables.contains_key(*name))
    }

    /// Starts the sinks and puts everything together.
    pub fn finish(
        self,
        id: Arc<str>,
        spec: &RuleSpec,
        config: &EngineConfig,
        tables: &HashMap<String, Arc<dyn Lookup>>,
        on_end: Box<dyn FnOnce(Ended) + Send>,
    ) -> Built {
        let plan = self.plan;
        let sources = plan.sources.iter().map(|s| (s.first_col, s.fields.len())).collect();
        let pushing = plan.sources.iter().filter(|s| s.kind != SourceKind::Lookup).count();
        let source_cols = plan.source_cols;
        let names: Vec<String> = plan.sources.iter().map(|s| s.stream.to_string()).collect();
        let decoders = self.streams.iter().flatten().filter(|s| s.decodes).count();
        let base = plan.sources.len() + 1 + decoders;
        let kinds: Vec<(Str, bool)> = plan
            .sources
            .iter()
            .map(|s| (s.stream.clone(), s.kind == SourceKind::Lookup))
            .collect();
        let asked = lookups(&kinds, tables, &self.lookup_props);
        let name = |at: usize, word: &str| match &self.names {
            Names::Graph(operators) => {
                operators.get(at).map(|node| format!("op_{node}")).unwrap_or_default()
            }
            // a lookup join is named after its table
            Names::Sql if names.iter().any(|n| n == word) => format!("op_{word}"),
            Names::Sql => format!("op_{}_{word}", base + at),
        };
        let called = |at: usize, word: &str| intern::name(&name(at, word));
        let chain = chain::build_with(plan, &called, &|at| asked.get(at).cloned().flatten());
        let project = chain.end_stats().clone();
        let operators = chain.stats().into_iter();
        let mut nodes: Vec<NodeRef> =
            operators.map(|(name, stats)| NodeRef { name, node: Node::Op(stats) }).collect();
        let graph = matches!(self.names, Names::Graph(_));
        if self.streams.iter().flatten().any(|s| s.shared.is_some()) {
            self.sinks.iter().for_each(|s| s.stats.shared.store(true, Relaxed));
        }
        let mut topo = topo::of_operators(&names, &self.streams, &nodes, graph);
        let last = nodes.last().map(|n| n.name.to_string());
        let mut placed = Placed { lanes: Vec::new(), nodes: &mut nodes, topo: &mut topo };
        for made in self.sinks {
            placed.add(made, last.clone(), &id, spec, config);
        }
        let lanes = placed.lanes;
        let parts = RuleParts {
            id,
            chain,
            output: RuleOutput::new(lanes, project, spec.send_error, spec.plan.is_event_time),
            sources,
            source_cols,
            send_error: spec.send_error,
            zone: config.zone.clone(),
            host: config.host.clone(),
            pushing,
            measure_cpu: config.measure_cpu,
            on_end,
        };
        Built { parts, streams: self.streams, nodes, topo, schema: self.schema, graph }
    }
}

