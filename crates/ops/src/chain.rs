//! A rule's operators in a row, and how they are built from the plan.

use std::sync::Arc;

use rekuiper_plan::physical::{RulePlan, Stage};
use rekuiper_value::Value;

use crate::op::{End, Node};
use crate::{Chunk, Next, NodeStats, Op, OpCx, Projection};

/// See the module's doc.
pub struct Chain {
    nodes: Vec<Node>,
    end: End,
}

/// Builds the operators of a plan. `name` gives a node's full name from its place and word.
pub fn build(plan: RulePlan, name: &dyn Fn(usize, &str) -> String) -> Chain {
    let mut nodes = Vec::with_capacity(plan.stages.len());
    let cols = plan.cols;
    for (at, stage) in plan.stages.into_iter().enumerate() {
        let name: Arc<str> = name(at, &stage.node).into();
        let op = operator(stage.stage, cols);
        nodes.push(Node { name, stats: Arc::default(), op });
    }
    let end = End {
        name: name(nodes.len(), "project").into(),
        stats: Arc::default(),
        projection: Projection::new(plan.projection, plan.uses_row_context),
    };
    Chain { nodes, end }
}

/// One line a stage: which file runs it.
fn operator(stage: Stage, _cols: usize) -> Box<dyn Op> {
    match stage {
        _ => Box::new(Pass),
    }
}

/// Hands everything on.
struct Pass;

impl Op for Pass {
    fn push(&mut self, chunk: Chunk<'_>, ocx: &mut OpCx<'_, '_>, mut next: Next<'_>) {
        next.push(chunk, ocx);
    }
}

impl Chain {
    fn first(&mut self) -> Next<'_> {
        Next { nodes: &mut self.nodes, end: &mut self.end, own: None }
    }

    /// Rows from a source.
    pub fn push(&mut self, chunk: Chunk<'_>, ocx: &mut OpCx<'_, '_>) {
        self.first().push(chunk, ocx);
    }

    /// Gives every operator whose deadline has come its tick.
    pub fn tick(&mut self, ocx: &mut OpCx<'_, '_>) {
        for at in 0..self.nodes.len() {
            let due = self.nodes[at].op.deadline().is_some_and(|d| d <= ocx.cx.now_ms);
            if let (true, Some((node, nodes))) = (due, self.nodes[at..].split_first_mut()) {
                let next = Next { nodes, end: &mut self.end, own: Some(node.stats.clone()) };
                node.op.tick(ocx, next);
            }
        }
    }

    /// The earliest deadline of any operator.
    pub fn deadline(&self) -> Option<i64> {
        self.nodes.iter().filter_map(|n| n.op.deadline()).min()
    }

    /// Name and counters of every operator, the projection last.
    pub fn stats(&self) -> Vec<(Arc<str>, Arc<NodeStats>)> {
        let nodes = self.nodes.iter().map(|n| (n.name.clone(), n.stats.clone()));
        nodes.chain([(self.end.name.clone(), self.end.stats.clone())]).collect()
    }

    /// State of all operators, for a checkpoint.
    pub fn save(&self) -> Value {
        Value::array(self.nodes.iter().map(|n| n.op.save()).collect())
    }

    /// Restores what `save` gave; states that do not fit are left alone.
    pub fn load(&mut self, state: &Value) {
        if let Value::Array(states) = state {
            for (node, state) in self.nodes.iter_mut().zip(states.iter()) {
                if !state.is_null() {
                    node.op.load(state);
                }
            }
        }
    }

    pub fn projection(&self) -> &Projection {
        &self.end.projection
    }

    pub fn end_stats(&self) -> &Arc<NodeStats> {
        &self.end.stats
    }
}
