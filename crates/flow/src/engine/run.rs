//! A run of a rule: what of it is at work, what it is called, and when its state is saved.

use std::sync::{Arc, Mutex};

use super::lock;
use crate::build::MadeStream;
use crate::intern;
use crate::metrics::{NodeRef, Nodes, Topo};
use crate::rule::{Ended, OnEnd, RuleCell};
use crate::stream::{StreamCell, StreamStart};

/// A rule that runs, or ran last.
pub struct Run {
    pub number: u64,
    pub live: Option<Live>,
    pub nodes: Nodes,
    pub topo: Arc<Topo>,
    /// Output columns; empty where only rows tell (`*`).
    pub schema: Arc<[String]>,
    /// Its state is kept.
    pub checkpoint: Option<Checkpoint>,
}

/// One a chain.
pub type Cells = Box<[Arc<RuleCell>]>;

/// What of a run is at work.
pub struct Live {
    pub cells: Cells,
    pub seats: Box<[Seat]>,
}

/// A rule's place at a stream.
pub struct Seat {
    pub stream: Arc<StreamCell>,
    pub id: u64,
    /// Key among the shared streams; `None` when the stream is the rule's own.
    pub shared: Option<Arc<str>>,
}

/// A stream that is still to be started, with its source.
type Start = (Arc<StreamCell>, StreamStart, MadeStream);

/// A run while its chains take their places.
#[derive(Default)]
pub struct Seating {
    pub cells: Vec<Arc<RuleCell>>,
    pub seats: Vec<Seat>,
    pub topo: Topo,
    pub schema: Arc<[String]>,
    pub starts: Vec<Start>,
    nodes: Vec<NodeRef>,
}

impl Seating {
    /// A node that several chains of a graph share is shown once.
    pub fn add_nodes(&mut self, nodes: Vec<NodeRef>) {
        for node in nodes {
            if !self.nodes.iter().any(|n| n.name == node.name) {
                self.nodes.push(node);
            }
        }
    }

    /// Everything sits: the run, and the streams to be started. What other rules have alike is
    /// shared with them, and no more room kept than is used.
    pub fn run(self, number: u64, checkpoint: Option<Checkpoint>) -> (Run, Vec<Start>) {
        let live = Live { cells: self.cells.into(), seats: self.seats.into() };
        let run = Run {
            number,
            live: Some(live),
            nodes: Nodes::new(self.nodes),
            topo: intern::topo(self.topo),
            schema: self.schema,
            checkpoint,
        };
        (run, self.starts)
    }
}

/// When the state of a rule is saved next, and of which statement it is.
#[derive(Clone, Copy)]
pub struct Checkpoint {
    pub mark: u64,
    pub every_ms: i64,
    pub next_ms: i64,
}

/// States are saved no more often than this.
const CHECKPOINT_MS_MIN: i64 = 1_000;

impl Checkpoint {
    pub fn new(mark: u64, every_ms: i64, now_ms: i64) -> Checkpoint {
        let every_ms = every_ms.max(CHECKPOINT_MS_MIN);
        Checkpoint { mark, every_ms, next_ms: now_ms + every_ms }
    }
}

/// What a chain does when it ends: a rule ends when all its chains have, or when one fails.
pub enum Ending {
    /// The rule's only chain.
    Whole(OnEnd),
    Part(Parts),
}

/// How many chains have not ended, and what is to be called in the end.
type Parts = Arc<Mutex<(usize, Option<OnEnd>)>>;

impl Ending {
    /// One for each chain.
    pub fn split(chains: usize, on_end: OnEnd) -> Vec<Ending> {
        if chains == 1 {
            return vec![Ending::Whole(on_end)];
        }
        let parts = Parts::new(Mutex::new((chains, Some(on_end))));
        (0..chains).map(|_| Ending::Part(parts.clone())).collect()
    }

    /// The chain has ended; gives what is to be called when the rule has.
    pub fn take(self, end: &Ended) -> Option<OnEnd> {
        let parts = match self {
            Ending::Whole(on_end) => return Some(on_end),
            Ending::Part(parts) => parts,
        };
        let mut state = lock(&parts);
        state.0 = state.0.saturating_sub(1);
        let over = state.0 == 0 || matches!(end, Ended::Failed(_));
        if over { state.1.take() } else { None }
    }
}
