//! What a rule reports: its nodes in the order of the data, and how they are joined.

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

use rekuiper_connect::ConnStatus;
use rekuiper_ops::NodeStats;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    Source,
    Op,
    Sink,
}

/// A node that can be asked for its numbers at any time, also after the run.
#[derive(Clone)]
pub struct NodeRef {
    /// As in the topology, without instance: `source_demo`, `op_2_filter`, `sink_mqtt_0`.
    pub name: Arc<str>,
    pub kind: NodeKind,
    pub stats: Arc<NodeStats>,
    pub status: Option<Arc<ConnStatus>>,
    /// Rows that wait in front of it.
    pub waiting: Option<Arc<dyn Fn() -> usize + Send + Sync>>,
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

impl NodeRef {
    pub fn report(&self) -> NodeReport {
        let s = &self.stats;
        let (text, time) = s.last_exception().map_or((String::new(), 0), |(t, at)| (t.into(), at));
        NodeReport {
            name: self.name.to_string(),
            records_in: s.records_in.load(Relaxed),
            records_out: s.records_out.load(Relaxed),
            messages_processed: s.records_in.load(Relaxed),
            process_latency_us: 0,
            buffer_length: self.waiting.as_ref().map_or(0, |w| w() as u64),
            last_invocation: s.last_invocation.load(Relaxed),
            exceptions: s.exceptions.load(Relaxed),
            last_exception: text,
            last_exception_time: time,
            connection: self.status.as_ref().map(|c| {
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
