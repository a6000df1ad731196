//! A rule's operators in a row, and how they are built from the plan.

use std::sync::Arc;

use rekuiper_plan::physical::{RulePlan, Stage, StagePlan};
use rekuiper_value::Value;

use crate::aggregate::Aggregated;
use crate::aggregate_columns::AggregateColumns;
use crate::filter::Filter;
use crate::having::Having;
use crate::limit::Limit;
use crate::needs::Needs;
use crate::op::{End, Node};
use crate::order::Order;
use crate::row_number::RowNumber;
use crate::window;
use crate::{Chunk, Next, NodeStats, Op, OpCx, Projection};

/// See the module's doc.
pub struct Chain {
    nodes: Vec<Node>,
    end: End,
}

/// Builds the operators of a plan. `name` gives a node's full name from its place and word.
pub fn build(plan: RulePlan, name: &dyn Fn(usize, &str) -> String) -> Chain {
    let cols = plan.cols;
    let needs = needs_after(&plan);
    let mut nodes = Vec::with_capacity(plan.stages.len());
    for (stage, needs) in plan.stages.into_iter().zip(&needs) {
        let StagePlan { node, stage } = stage;
        for (word, op) in operators(&node, stage, needs, cols) {
            let name: Arc<str> = name(nodes.len(), &word).into();
            nodes.push(Node { name, stats: Arc::default(), op });
        }
    }
    let end = End {
        name: name(nodes.len(), "project").into(),
        stats: Arc::default(),
        projection: Projection::new(plan.projection, plan.uses_row_context),
    };
    Chain { nodes, end }
}

/// For each stage the columns that later ones read.
fn needs_after(plan: &RulePlan) -> Vec<Needs> {
    let mut needs = Needs::of_projection(&plan.projection);
    let mut after: Vec<Needs> = Vec::with_capacity(plan.stages.len());
    for stage in plan.stages.iter().rev() {
        after.push(needs.clone());
        needs.stage(&stage.stage);
    }
    after.reverse();
    after
}

/// One line a stage: which file runs it. A stage may be run by two operators.
fn operators(node: &str, stage: Stage, after: &Needs, cols: usize) -> Vec<(String, Box<dyn Op>)> {
    let keep = after.columns();
    let one = |op: Box<dyn Op>| vec![(node.to_owned(), op)];
    match stage {
        Stage::Filter(condition) => one(Box::new(Filter::new(condition))),
        Stage::Window(plan) => one(window::buffered(plan, keep, cols)),
        Stage::WindowAggregate(plan, aggregate) => {
            if window::can_hold_groups(&plan) && aggregate.sort_rows.is_empty() {
                return one(window::grouped(plan, aggregate, keep, cols));
            }
            let mut needs = after.clone();
            needs.aggregate(&aggregate);
            let rows = window::buffered(plan, needs.columns(), cols);
            let groups: Box<dyn Op> = Box::new(Aggregated::new(aggregate, keep, cols));
            vec![(node.to_owned(), rows), ("aggregate".to_owned(), groups)]
        }
        Stage::AggregateColumns(calls) => one(Box::new(AggregateColumns::new(calls, cols))),
        Stage::Aggregate(plan) => one(Box::new(Aggregated::new(plan, keep, cols))),
        Stage::Having(condition) => one(Box::new(Having::new(condition))),
        Stage::RowNumber(plan) => one(Box::new(RowNumber::new(plan))),
        Stage::Order(keys) => one(Box::new(Order::new(keys))),
        Stage::Limit(rows) => one(Box::new(Limit(rows))),
        _ => one(Box::new(Pass)),
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
