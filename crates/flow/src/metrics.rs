//! What a rule reports: its nodes in the order of the data, and how they are joined.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use rekuiper_connect::ConnStatus;
use rekuiper_ops::NodeStats;

use crate::intern;
use crate::sink::SinkStats;
use crate::stream::StreamCell;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    Source,
    Op,
    Sink,
}

/// Where the numbers of a node are kept, whose kind that is as well.
#[derive(Clone)]
pub enum Node {
    Source(Arc<StreamCell>),
    Decoder(Arc<StreamCell>),
    Op(Arc<NodeStats>),
    Transform(Arc<SinkStats>),
    Encode(Arc<SinkStats>),
    Sink(Arc<SinkStats>),
}

impl Node {
    pub fn kind(&self) -> NodeKind {
        match self {
            Node::Source(_) => NodeKind::Source,
            Node::Sink(_) => NodeKind::Sink,
            Node::Decoder(_) | Node::Op(_) | Node::Transform(_) | Node::Encode(_) => NodeKind::Op,
        }
    }

    pub fn stats(&self) -> &NodeStats {
        match self {
            Node::Source(stream) => &stream.source_stats,
            Node::Decoder(stream) => &stream.decoder_stats,
            Node::Op(stats) => stats,
            Node::Transform(sink) => &sink.transform,
            Node::Encode(sink) => &sink.encode,
            Node::Sink(sink) => &sink.sink,
        }
    }

    /// Whether it is one of that stream.
    pub fn is_of(&self, stream: &Arc<StreamCell>) -> bool {
        matches!(self, Node::Source(own) | Node::Decoder(own) if Arc::ptr_eq(own, stream))
    }

    pub fn is_of_sink(&self) -> bool {
        matches!(self, Node::Transform(_) | Node::Encode(_) | Node::Sink(_))
    }

    fn status(&self) -> Option<&ConnStatus> {
        match self {
            Node::Source(stream) => Some(&stream.status),
            Node::Sink(sink) => Some(&sink.status),
            _ => None,
        }
    }

    /// Rows that wait in front of it.
    fn waiting(&self) -> usize {
        match self {
            Node::Source(stream) => stream.gauge.rows(),
            Node::Sink(sink) => sink.queue.get().map_or(0, |queue| queue.rows()),
            _ => 0,
        }
    }
}

/// A node that can be asked for its numbers at any time, also after the run.
#[derive(Clone)]
pub struct NodeRef {
    /// As in the topology, without instance: `source_demo`, `op_2_filter`, `sink_mqtt_0`.
    pub name: Arc<str>,
    pub node: Node,
}

/// The nodes of a rule in the order of the data. There are many rules: names that others have alike
/// are theirs as well.
#[derive(Default)]
pub struct Nodes {
    names: Arc<[Arc<str>]>,
    nodes: Box<[Node]>,
}

impl Nodes {
    pub fn new(all: Vec<NodeRef>) -> Nodes {
        let names: Vec<Arc<str>> = all.iter().map(|n| n.name.clone()).collect();
        let nodes = all.into_iter().map(|n| n.node).collect();
        Nodes { names: intern::names(&names), nodes }
    }

    pub fn iter(&self) -> impl Iterator<Item = (&Arc<str>, &Node)> {
        self.names.iter().zip(&self.nodes)
    }
}

/// Numbers of a node; times are Unix milliseconds, 0: never.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeReport {
    pub name: String,
    pub records_in: u64,
    pub records_out: u64,
    pub messages_processed: u64,
    pub process_latency_us: u64,
    pub buffer_length: u64,
    pub last_invocation: i64,
    pub exceptions: u64,
    pub last_exception: String,
    pub last_exception_time: i64,
    /// State, last connected, last disconnected, why, last try: sources and sinks.
    pub connection: Option<(i8, i64, i64, String, i64)>,
}

impl NodeReport {
    pub fn of(name: &str, node: &Node) -> NodeReport {
        let s = node.stats();
        let (text, time) = s.last_exception().map_or((String::new(), 0), |(t, at)| (t.into(), at));
        NodeReport {
            name: name.to_owned(),
            records_in: s.records_in.load(Relaxed),
            records_out: s.records_out.load(Relaxed),
            messages_processed: s.records_in.load(Relaxed),
            process_latency_us: 0,
            buffer_length: node.waiting() as u64,
            last_invocation: s.last_invocation.load(Relaxed),
            exceptions: s.exceptions.load(Relaxed),
            last_exception: text,
            last_exception_time: time,
            connection: node.status().map(|c| {
                (
                    c.state(),
                    c.last_connected.load(Relaxed),
                    c.last_disconnected.load(Relaxed),
                    c.message().to_string(),
                    c.last_try.load(Relaxed),
                )
            }),
        }
    }
}

/// Which node feeds which.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Topo {
    pub sources: Vec<String>,
    pub edges: Vec<(String, Vec<String>)>,
}

impl Topo {
    /// Adds another chain of the same rule.
    pub fn merge(&mut self, other: Topo) {
        for source in other.sources {
            if !self.sources.contains(&source) {
                self.sources.push(source);
            }
        }
        for (from, to) in other.edges {
            match self.edges.iter_mut().find(|(name, _)| *name == from) {
                Some((_, known)) => {
                    for target in to {
                        if !known.contains(&target) {
                            known.push(target);
                        }
                    }
                }
                None => self.edges.push((from, to)),
            }
        }
    }
}
