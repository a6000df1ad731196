//! From a rule's definition to its parts: plan, operators, sources, sinks.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use rekuiper_connect::{Lookup, Opened, Props, Sink, SinkCx, Source, find};
use rekuiper_formats::Decoder;
use rekuiper_ops::chain;
use rekuiper_ops::lookup::{CacheOptions, Lookups};
use rekuiper_plan::physical::{RulePlan, SourceKind};
use rekuiper_plan::{Planned, plan_graph, plan_rule};
use rekuiper_value::{Field, Str};

use crate::decode;
use crate::intern;
use crate::lookup::Table;
use crate::deliver::Port;
use crate::engine::EngineConfig;
use crate::metrics::{NodeKind, NodeRef, Topo};
use crate::output::{Lane, LaneKind, Ready, RuleOutput};
use crate::rule::{Ended, RuleParts};
use crate::pack::{self, Pack};
use crate::shape::{Shaper, is_plain_json};
use crate::sink::{SinkHandle, SinkStats};
use crate::spec::{ActionSpec, FlowCatalog, RuleSpec, StreamSpec};
use crate::stream::StreamCell;
use crate::FlowError;

/// A stream's source and decoder, made but not started.
pub struct MadeStream {
    pub name: Str,
    pub fields: Vec<Field>,
    pub source: Box<dyn Source>,
    pub decoder: Decoder,
    pub decodes: bool,
    /// Key among the shared streams.
    pub shared: Option<String>,
}

/// A sink, made but not started.
struct MadeSink {
    action: ActionSpec,
    /// `mqtt_0`: type and number of the action; the node's name in graphs.
    op: String,
    sink: Box<dyn Sink>,
    stats: Arc<SinkStats>,
    shaper: Option<Shaper>,
}

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

type MadeSources = (Vec<Option<MadeStream>>, HashMap<Str, Props>);

/// Sources of a plan; `find` gives a source's name in the catalog and its definition.
fn sources(
    plan: &RulePlan,
    find: &dyn Fn(&Str) -> Option<(Str, StreamSpec)>,
    spec: &RuleSpec,
    catalog: &dyn FlowCatalog,
    config: &EngineConfig,
) -> Result<MadeSources, FlowError> {
    let mut streams = Vec::new();
    let mut lookup_props = HashMap::new();
    for source in &plan.sources {
        let name = &source.stream;
        let Some((stream_name, found)) = find(name) else {
            return Err(FlowError::NotFound(format!("stream {name} is not found")));
        };
        streams.push(match source.kind {
            SourceKind::Lookup => {
                lookup_props.insert(stream_name, found.props);
                None
            }
            _ => {
                let made = stream(name, found, &source.fields, spec, catalog, config)?;
                Some(made)
            }
        });
    }
    Ok((streams, lookup_props))
}

fn stream(
    name: &Str,
    found: StreamSpec,
    fields: &[Field],
    spec: &RuleSpec,
    catalog: &dyn FlowCatalog,
    config: &EngineConfig,
) -> Result<MadeStream, FlowError> {
    let options = &found.def.options;
    let typ = found.typ();
    let connector = find(typ).and_then(|c| c.source);
    let Some(open) = connector else {
        return Err(FlowError::Connector(format!(
            "source type {typ} of stream {name} is not known to this build"
        )));
    };
    let datasource = options.datasource.as_deref().unwrap_or_default();
    let Opened::Source(source) = open(datasource, &found.props)? else {
        return Err(FlowError::Connector(format!("type {typ} is no source")));
    };
    let source = rekuiper_connect::intake::wrap(source, &found.props)?;
    source.check(&config.services)?;
    let event_time = spec.plan.is_event_time;
    let shared = options.shared.unwrap_or(false);
    Ok(MadeStream {
        name: name.clone(),
        fields: fields.to_vec(),
        decodes: !source.gives_rows(),
        decoder: decode::decoder(&found, catalog, event_time, &config.zone)?,
        source,
        shared: shared.then(|| format!("{name}{}", if event_time { " by event time" } else { "" })),
    })
}

fn sink(
    action: &ActionSpec,
    op: String,
    catalog: &dyn FlowCatalog,
) -> Result<MadeSink, FlowError> {
    let Some(open) = find(&action.typ).and_then(|c| c.sink) else {
        return Err(FlowError::Connector(format!(
            "sink type {} is not known to this build",
            action.typ
        )));
    };
    let Opened::Sink(mut sink) = open(&action.props)? else {
        return Err(FlowError::Connector(format!("type {} is no sink", action.typ)));
    };
    let stats = Arc::new(SinkStats::default());
    let (templated, rows) = (sink.templated(), sink.takes_rows());
    let key = pack::key(&action.props, catalog)?;
    let pack = match sink.packs(key.as_deref()) {
        true => None,
        false => Pack::new(&action.props, key.as_deref())?,
    };
    let shaper = match pack.is_none() && is_plain_json(&action.props, templated, rows) {
        true => None,
        false => {
            let errors = stats.transform.clone();
            Some(Shaper::new(&action.props, templated, rows, pack, catalog, errors)?)
        }
    };
    Ok(MadeSink { action: action.clone(), op, sink, stats, shaper })
}

/// Makes a lookup table; it is not open yet.
pub fn lookup(name: &str, catalog: &dyn FlowCatalog) -> Result<Arc<dyn Lookup>, FlowError> {
    let found = catalog
        .stream_spec(name)
        .ok_or_else(|| FlowError::NotFound(format!("table {name} is not found")))?;
    let options = &found.def.options;
    let typ = found.typ();
    let Some(open) = find(typ).and_then(|c| c.lookup) else {
        return Err(FlowError::Connector(format!("type {typ} of table {name} cannot look up")));
    };
    let (datasource, key) = (options.datasource.as_deref(), options.key.as_deref());
    match open(datasource.unwrap_or_default(), key.unwrap_or_default(), &found.props)? {
        Opened::Lookup(table) => Ok(table),
        _ => Err(FlowError::Connector(format!("type {typ} of table {name} cannot look up"))),
    }
}

/// The tables that a rule asks, with their caches.
fn lookups(
    sources: &[(Str, bool)],
    tables: &HashMap<String, Arc<dyn Lookup>>,
    catalog_props: &HashMap<Str, Props>,
) -> Vec<Option<Lookups>> {
    let made = |(name, is_lookup): &(Str, bool)| {
        let table = tables.get(name.as_str()).filter(|_| *is_lookup)?;
        let cache = catalog_props.get(name).and_then(cache_options);
        Some(Lookups { table: Arc::new(Table(table.clone())), cache })
    };
    sources.iter().map(made).collect()
}

fn cache_options(props: &Props) -> Option<CacheOptions> {
    let lookup = Props::new(props.map("lookup").ok()?);
    let on = lookup.bool("cache", false).unwrap_or(false);
    on.then(|| CacheOptions {
        ttl_ms: lookup.millis("cacheTtl", 0).unwrap_or(0),
        missing: lookup.bool("cacheMissingKey", false).unwrap_or(false),
        ..CacheOptions::default()
    })
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
        let mut nodes: Vec<NodeRef> = chain
            .stats()
            .into_iter()
            .map(|(name, stats)| NodeRef {
                name,
                kind: NodeKind::Op,
                stats,
                status: None,
                waiting: None,
            })
            .collect();
        let graph = matches!(self.names, Names::Graph(_));
        if self.streams.iter().flatten().any(|s| s.shared.is_some()) {
            self.sinks.iter().for_each(|s| s.stats.shared.store(true, Relaxed));
        }
        let mut topo = ops_topo(&names, &self.streams, &nodes, graph);
        let mut lanes: Vec<Lane> = Vec::new();
        let last = nodes.last().map(|n| n.name.to_string());
        for made in self.sinks {
            let from = last.clone();
            add_sink(made, from, spec, config, &mut lanes, &mut nodes, &mut topo);
        }
        let parts = RuleParts {
            id: spec.id.as_str().into(),
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

fn ops_topo(
    names: &[String],
    streams: &[Option<MadeStream>],
    nodes: &[NodeRef],
    graph: bool,
) -> Topo {
    let mut topo = Topo::default();
    let first = nodes.first().map(|n| n.name.to_string()).unwrap_or_default();
    for (at, name) in names.iter().enumerate() {
        let Some(stream) = streams.get(at).and_then(Option::as_ref) else { continue };
        let source = format!("source_{name}");
        topo.sources.push(source.clone());
        if stream.decodes && !graph {
            let decoder = format!("op_{}_decoder", at + 2);
            topo.edges.push((source, vec![decoder.clone()]));
            topo.edges.push((decoder, vec![first.clone()]));
        } else if !first.is_empty() {
            topo.edges.push((source, vec![first.clone()]));
        }
    }
    for pair in nodes.windows(2) {
        topo.edges.push((pair[0].name.to_string(), vec![pair[1].name.to_string()]));
    }
    topo
}

/// Source and decoder of a stream as nodes of a rule.
pub fn stream_nodes(stream: &StreamCell, at: usize, graph: bool) -> Vec<NodeRef> {
    let gauge = stream.gauge.clone();
    let mut nodes = vec![NodeRef {
        name: format!("source_{}", stream.name).into(),
        kind: NodeKind::Source,
        stats: stream.source_stats.clone(),
        status: Some(stream.status.clone()),
        waiting: Some(Arc::new(move || gauge.rows())),
    }];
    if stream.decodes && !graph {
        nodes.push(NodeRef {
            name: format!("op_{}_decoder", at + 2).into(),
            kind: NodeKind::Op,
            stats: stream.decoder_stats.clone(),
            status: None,
            waiting: None,
        });
    }
    nodes
}

#[allow(clippy::too_many_arguments)]
fn add_sink(
    made: MadeSink,
    from: Option<String>,
    spec: &RuleSpec,
    config: &EngineConfig,
    lanes: &mut Vec<Lane>,
    nodes: &mut Vec<NodeRef>,
    topo: &mut Topo,
) {
    let MadeSink { action, op, sink, stats, shaper } = made;
    let (rows, columns) = (sink.takes_rows(), sink.takes_columns());
    let cx = SinkCx {
        services: config.services.clone(),
        clock: config.clock.clone(),
        status: stats.status.clone(),
        rule: spec.id.as_str().into(),
        op: op.as_str().into(),
    };
    let (handle, tx) = SinkHandle::start(sink, cx, stats.clone());
    let gauge = tx.as_ref().map(|tx| tx.gauge());
    let port = Port::new(tx, handle, spec.plan.disable_buffer_full_discard);
    let mut chain = vec![(format!("op_{op}_0_transform"), NodeKind::Op, stats.transform.clone())];
    if !rows {
        chain.push((format!("op_{op}_1_encode"), NodeKind::Op, stats.encode.clone()));
    }
    chain.push((format!("sink_{op}"), NodeKind::Sink, stats.sink.clone()));
    let mut from = from;
    for (name, kind, node_stats) in chain {
        match &from {
            Some(from) => join(topo, from, &name),
            // a graph without operators: the source feeds the sink
            None => topo.sources.clone().iter().for_each(|source| join(topo, source, &name)),
        }
        let is_sink = kind == NodeKind::Sink;
        let gauge = gauge.clone().filter(|_| is_sink);
        nodes.push(NodeRef {
            name: name.as_str().into(),
            kind,
            stats: node_stats,
            status: is_sink.then(|| stats.status.clone()),
            waiting: gauge.map(|gauge| Arc::new(move || gauge.rows()) as Arc<_>),
        });
        from = Some(name);
    }
    put_in_lane(lanes, port, shaper, columns, &action.props);
}

fn join(topo: &mut Topo, from: &str, to: &str) {
    match topo.edges.iter_mut().find(|(name, _)| name == from) {
        Some((_, targets)) => targets.push(to.to_owned()),
        None => topo.edges.push((from.to_owned(), vec![to.to_owned()])),
    }
}

/// Sinks of plain JSON with the same form share a lane; others have their own.
fn put_in_lane(
    lanes: &mut Vec<Lane>,
    port: Port,
    shaper: Option<Shaper>,
    columns: bool,
    props: &Props,
) {
    if let Some(shaper) = shaper {
        let kind = LaneKind::Shaped(Box::new(shaper));
        lanes.push(Lane { kind, ports: vec![port], ready: Ready::default() });
        return;
    }
    if columns {
        let kind = LaneKind::Columns;
        return lanes.push(Lane { kind, ports: vec![port], ready: Ready::default() });
    }
    let flag = |key: &str| props.bool(key, false).unwrap_or(false);
    let (single, omit) = (flag("sendSingle"), flag("omitIfEmpty"));
    let same = lanes.iter_mut().find(|l| {
        matches!(l.kind, LaneKind::Json { single: s, omit_if_empty: o } if s == single && o == omit)
    });
    match same {
        Some(lane) => lane.ports.push(port),
        None => {
            let kind = LaneKind::Json { single, omit_if_empty: omit };
            lanes.push(Lane { kind, ports: vec![port], ready: Ready::default() });
        }
    }
}

