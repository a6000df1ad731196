//! Sinks of a rule: connectors, the form of what they get, and the nodes that stand for them.

use std::sync::Arc;

use rekuiper_connect::{Opened, Sink, SinkCx, find};

use super::topo::join;
use crate::FlowError;
use crate::deliver::Port;
use crate::engine::EngineConfig;
use crate::metrics::{Node, NodeRef, Topo};
use crate::output::{Lane, LaneKind, Ready};
use crate::pack::{self, Pack};
use crate::shape::{Shaper, is_plain_json};
use crate::sink::{SinkHandle, SinkStats};
use crate::spec::{ActionSpec, FlowCatalog, RuleSpec};

/// A sink, made but not started.
pub struct MadeSink {
    /// `mqtt_0`: type and number of the action; the node's name in graphs.
    op: String,
    sink: Box<dyn Sink>,
    pub stats: Arc<SinkStats>,
    /// The form of what it gets.
    kind: LaneKind,
}

pub fn sink(
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
    let kind = if pack.is_some() || !is_plain_json(&action.props, templated, rows) {
        let stats = stats.clone();
        let shaper = Shaper::new(&action.props, templated, rows, pack, catalog, stats)?;
        LaneKind::Shaped(Box::new(shaper))
    } else if sink.takes_columns() {
        LaneKind::Columns
    } else {
        LaneKind::Json {
            single: action.props.bool("sendSingle", false)?,
            omit_if_empty: action.props.bool("omitIfEmpty", false)?,
        }
    };
    Ok(MadeSink { op, sink, stats, kind })
}

/// What the sinks of a chain become.
pub struct Placed<'a> {
    pub lanes: Vec<Lane>,
    pub nodes: &'a mut Vec<NodeRef>,
    pub topo: &'a mut Topo,
}

impl Placed<'_> {
    /// Starts a sink that gets what the node `from` gives; `None`: what the sources give.
    pub fn add(
        &mut self,
        made: MadeSink,
        from: Option<String>,
        id: &Arc<str>,
        spec: &RuleSpec,
        config: &EngineConfig,
    ) {
        let MadeSink { op, sink, stats, kind } = made;
        let rows = sink.takes_rows();
        let cx = SinkCx {
            services: config.services.clone(),
            clock: config.clock.clone(),
            status: stats.status.clone(),
            rule: id.clone(),
            op: op.as_str().into(),
        };
        let (handle, tx) = SinkHandle::start(sink, cx, stats.clone());
        let port = Port::new(tx, handle, spec.plan.disable_buffer_full_discard);
        let mut chain = vec![(format!("op_{op}_0_transform"), Node::Transform(stats.clone()))];
        if !rows {
            chain.push((format!("op_{op}_1_encode"), Node::Encode(stats.clone())));
        }
        chain.push((format!("sink_{op}"), Node::Sink(stats)));
        let mut from = from;
        for (name, node) in chain {
            match &from {
                Some(from) => join(self.topo, from, &name),
                // a graph without operators: the source feeds the sink
                None => {
                    let sources = self.topo.sources.clone();
                    sources.iter().for_each(|source| join(self.topo, source, &name));
                }
            }
            self.nodes.push(NodeRef { name: name.as_str().into(), node });
            from = Some(name);
        }
        put_in_lane(&mut self.lanes, port, kind);
    }
}

/// Sinks of plain JSON with the same form share a lane; others have their own.
fn put_in_lane(lanes: &mut Vec<Lane>, port: Port, kind: LaneKind) {
    let alike = |lane: &&mut Lane| match (&lane.kind, &kind) {
        (
            LaneKind::Json { single: a, omit_if_empty: c },
            LaneKind::Json { single: b, omit_if_empty: d },
        ) => (a, c) == (b, d),
        _ => false,
    };
    match lanes.iter_mut().find(alike) {
        Some(lane) => lane.ports.push(port),
        None => lanes.push(Lane { kind, ports: vec![port], ready: Ready::default() }),
    }
}
